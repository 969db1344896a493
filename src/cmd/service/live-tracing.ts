/**
 * The current `[tracing]` settings for all components of a process; the file may be reloaded while they run.
 *
 *     core.tracing.spans()            // span options; undefined: tracing is off
 *     core.tracing.adopt(settings)    // reloaded settings; all components use them from now on
 */
import type { Connection } from '../../driver/connection.ts';
import { createListeners } from '../../lib/listeners.ts';
import { buildLog, buildPage, itemPage } from '../../model/page-addresses.ts';
import { type ConnectionName, type ProjectKey, projectIdOf, projectKey } from '../../model/project.ts';
import type { TracingOn, TracingSettings } from '../../settings/tracing-settings.ts';
import { type LiveTracing, type TracePolicy, WHOLE_TRACES } from '../../tracing/live-tracing.ts';
import { type ServerAddress, serverOfRemote } from '../../tracing/repository-url.ts';
import { rootService } from '../../tracing/resource.ts';
import { isSampled } from '../../tracing/sampling.ts';
import type { SpanOptions } from '../../tracing/spans/span-options.ts';

/** Ask it each time: what it returns is out of date after the next {@link adopt}. */
export interface TracingControl extends LiveTracing {
  settings(): TracingSettings;
  adopt(settings: TracingSettings): void;
  /** Called after {@link adopt}, also for equal settings: the files they name may have changed. @returns a function that unsubscribes. */
  onChange(listener: () => void): Disposable;
}

/** Connections as the span functions see them. */
export type TracedConnections = ReadonlyMap<ConnectionName, Pick<Connection, 'driver' | 'publicUrl'>>;

/** @param root public URL without trailing slash; called after the port is known. */
export function liveTracing(
  tracing: TracingSettings,
  connections: TracedConnections,
  root: () => string,
): TracingControl {
  const listeners = createListeners();
  const optionsOf = (settings: TracingSettings) =>
    settings.kind === 'off'
      ? undefined
      : {
          ...spanOptions(settings, connections, root),
          viewer: { template: settings.uiUrl, service: rootService(settings) },
        };
  let now = { settings: tracing, spans: optionsOf(tracing), policy: policyOf(tracing) };
  return {
    settings: () => now.settings,
    spans: () => now.spans,
    isSampled: event => now.settings.kind === 'on' && isSampled(event, now.settings.sampleRatio),
    policy: () => now.policy,
    adopt(settings) {
      now = { settings, spans: optionsOf(settings), policy: policyOf(settings) };
      listeners.call();
    },
    onChange: listeners.add,
  };
}

/** Options of the span functions, the same for live spans and for exports from the history. */
export function spanOptions(
  settings: Pick<TracingOn, 'spanNames'>,
  connections: TracedConnections,
  root: () => string,
): SpanOptions {
  return {
    names: settings.spanNames,
    urls: {
      item: ({ tenant, uuid }) => itemPage(root(), tenant, uuid),
      build: ({ tenant }, build) => buildPage(root(), tenant, build),
      log: ({ tenant }, build) => buildLog(root(), tenant, build),
    },
    servers: new Map([...connections].map(([name, connection]) => [name, serverOf(name, connection)])),
    providers: new Map([...connections].map(([name, { driver }]) => [name, driver])),
    repositoryUrl: repositoryUrls(connections),
  };
}

/** All repositories of a connection have the same server, so any project name will do. */
function serverOf(name: ConnectionName, connection: Pick<Connection, 'publicUrl'>): ServerAddress {
  return serverOfRemote(connection.publicUrl(projectKey({ connection: name, name: 'any' })) ?? '');
}

/** Cached per project: every turn asks for the same few. */
function repositoryUrls(connections: TracedConnections): NonNullable<SpanOptions['repositoryUrl']> {
  const known = new Map<ProjectKey, string | undefined>();
  return project => {
    if (!known.has(project))
      known.set(project, connections.get(projectIdOf(project).connection)?.publicUrl(project));
    return known.get(project);
  };
}

function policyOf(settings: TracingSettings): TracePolicy {
  if (settings.kind === 'off') return WHOLE_TRACES;
  const { sampleRatio: ratio, keep, splitAfter } = settings;
  return { ratio, keep, splitAfterMs: splitAfter * 1000 };
}
