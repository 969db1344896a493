/** Resource of this installation's spans, from the settings. */
import { hostname } from 'node:os';
import type { Settings } from '../../settings/settings.ts';
import type { TracingSettings } from '../../settings/tracing-settings.ts';
import type { Installation } from '../../tracing/resource.ts';

/** What the settings do not know. */
export interface InstallationFacts {
  readonly version: string;
  /** Undefined: not known yet. */
  readonly instance: string | undefined;
  /** The installation's only machine; undefined: there may be several. */
  readonly host: string | undefined;
}

/** Used while tracing is off: pages still show spans. */
const UNNAMED = { serviceName: 'gatehouse', servicePerComponent: false, resourceAttributes: new Map() };

/** With the same settings, equal in all processes of an installation: spans made in several of them are the same. */
export function installationOf(
  tracing: TracingSettings,
  { version, instance, host }: InstallationFacts,
): Installation {
  const { serviceName, servicePerComponent, resourceAttributes } = tracing.kind === 'on' ? tracing : UNNAMED;
  return {
    serviceName,
    serviceVersion: version,
    instanceId: instance,
    hostName: host,
    servicePerComponent,
    extra: resourceAttributes,
  };
}

/** The name of this process's machine in traces, logs, metrics and the list of components. */
export function machineName({ scheduler }: Pick<Settings, 'scheduler'>): string {
  return scheduler.hostName ?? hostname();
}

/** An embedded store implies a single machine, `here`. */
export function onlyHost({ store }: Pick<Settings, 'store'>, here: string): string | undefined {
  return store.kind === 'embedded' ? here : undefined;
}
