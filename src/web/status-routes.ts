/** The current state: status, pipelines, semaphores, projects, jobs, configuration errors, under Zuul's paths and names. */
import type { Router } from 'express';
import { QUERIES } from '../api/queries.ts';
import { semaphoresDocument } from '../api/semaphores.ts';
import {
  configErrorsDocument,
  configErrorsPage,
  type PipelinesDocument,
  projectsDocument,
  systemEventsDocument,
} from '../api/service.ts';
import {
  itemsBehind,
  itemsOfPage,
  refId,
  type StatusContext,
  type StatusPage,
  statusItem,
  statusJson,
} from '../api/status.ts';
import type { TenantSnapshot } from '../api/tenant-snapshot.ts';
import { traceHealthDocument } from '../api/trace-health.ts';
import { toMilliseconds } from '../lib/clock.ts';
import { jsonInTurns } from '../lib/json-in-turns.ts';
import { nextTurn, turnIsUsed } from '../lib/turns.ts';
import { leadChange } from '../model/about-item.ts';
import type { QueueItem } from '../model/queue-item.ts';
import { type Answer, jsonAnswer } from './answer.ts';
import type { WebDeps } from './deps.ts';
import type { ExpectedJobDurations } from './expected-durations.ts';
import { infoJson } from './info-json.ts';
import { readQuery } from './query.ts';
import { sharedMaking } from './shared-making.ts';
import { type FoundTenant, inTenant, liveItems } from './tenant-access.ts';

/** Zuul's status pages poll once a second, by the hundred. */
const SHARED_SECOND = 'public, max-age=1';

/** @param router of a tenant. @param expected for the estimates and remaining times that Zuul's clients show. */
export function addStatusRoutes(router: Router, deps: WebDeps, expected: ExpectedJobDurations): void {
  const whole = sharedMaking<Answer>();
  async function status({ name, snapshot }: FoundTenant, page: StatusPage | undefined): Promise<Answer> {
    const make = async () => {
      // It may have waited for others.
      const now = deps.snapshot(name) ?? snapshot;
      const context = await statusContext(deps, expected, now, itemsOfPage(now, page));
      const headers = {
        'Cache-Control': SHARED_SECOND,
        'Last-Modified': new Date(toMilliseconds(context.now)).toUTCString(),
      };
      const text = await jsonInTurns(await statusJson(now, context, page));
      return { kind: 'encoded', text, headers } as const;
    };
    return page === undefined ? whole(name, make) : make();
  }
  router.get(
    '/status',
    inTenant(deps, async (tenant, { query }) => {
      const page = readPage(query);
      return page?.kind === 'refused' ? page : status(tenant, page?.values);
    }),
  );
  router.get(
    '/status/change/*change',
    inTenant(deps, async (tenant, { parameter }) => {
      const wanted = parameter('change');
      const context = await statusContext(deps, expected, tenant.snapshot, liveItems(tenant.snapshot));
      return jsonAnswer(itemsOfChange(tenant.snapshot, wanted, context), { 'Cache-Control': SHARED_SECOND });
    }),
  );
  router.get(
    '/info',
    inTenant(deps, async tenant => jsonAnswer(infoJson(deps, tenant.name))),
  );
  router.get(
    '/config-errors',
    inTenant(deps, async ({ snapshot }, { query }) => {
      const read = readQuery(query, QUERIES.configErrors);
      if (read.kind === 'refused') return read;
      return jsonAnswer(configErrorsPage(configErrorsDocument(snapshot), read.values));
    }),
  );
  addConfigurationRoutes(router, deps);
  router.get(
    '/pipelines',
    inTenant(deps, async ({ snapshot }) => jsonAnswer(pipelinesJson(deps, snapshot))),
  );
  router.get(
    '/trace-health',
    inTenant(deps, async ({ snapshot }) => jsonAnswer(traceHealthDocument(snapshot.tracing?.sender ?? null))),
  );
  router.get(
    '/semaphores',
    inTenant(deps, async ({ name, snapshot }) => {
      const others = deps.tenants().filter(other => other !== name);
      const snapshots = others.flatMap(other => deps.snapshot(other) ?? []);
      return jsonAnswer(
        semaphoresDocument(snapshot, snapshots, { tenant: name, held: await deps.heldByPlaybooks(name) }),
      );
    }),
  );
  router.get(
    '/projects',
    inTenant(deps, async ({ snapshot }) => jsonAnswer(projectsDocument(snapshot))),
  );
}

/** What Zuul's page asks for besides: about the configuration in force. */
function addConfigurationRoutes(router: Router, deps: WebDeps): void {
  router.get(
    '/system-events',
    inTenant(deps, async ({ snapshot }) => jsonAnswer(systemEventsDocument(snapshot))),
  );
  router.get(
    '/tenant-status',
    inTenant(deps, async ({ snapshot }) =>
      jsonAnswer({ config_error_count: configErrorsDocument(snapshot).length }),
    ),
  );
}

/** Undefined: all. Clients of Zuul add parameters of their own, which are ignored as there. */
function readPage(query: URLSearchParams) {
  const own = [...query].filter(([name]) => Object.hasOwn(QUERIES.status, name));
  return own.length === 0 ? undefined : readQuery(new URLSearchParams(own), QUERIES.status);
}

/** @param items whose jobs are shown. */
async function statusContext(
  deps: WebDeps,
  expected: ExpectedJobDurations,
  snapshot: TenantSnapshot,
  items: Iterable<QueueItem>,
): Promise<StatusContext> {
  const durations = new Map<string, Map<string, number>>();
  for (const item of items) {
    if (turnIsUsed()) await nextTurn();
    const { project } = leadChange(item);
    const known = durations.get(project) ?? new Map<string, number>();
    durations.set(project, known);
    for (const [job, usual] of await expected.of(item)) known.set(job, usual);
  }
  return {
    now: deps.clock.now(),
    version: deps.version,
    root: deps.root(),
    traceUi: deps.traceUi(),
    canonicalNames: new Map(snapshot.projects.map(project => [project.project, project.canonicalName])),
    expected: durations,
  };
}

/** Items of a change, named by `id,patchset`, by its id alone, or by a ref. */
function itemsOfChange(snapshot: TenantSnapshot, wanted: string, context: StatusContext) {
  return snapshot.pipelines.flatMap(({ state }) =>
    state.queues.flatMap(queue => {
      const behind = itemsBehind(queue, state.items);
      return queue.items.flatMap(uuid => {
        const item = state.items.get(uuid);
        const fits = item?.changes.some(
          change =>
            refId(change) === wanted ||
            change.ref === wanted ||
            (change.kind === 'change' && change.id === wanted),
        );
        return item !== undefined && fits === true ? [statusItem(item, behind.get(uuid) ?? [], context)] : [];
      });
    }),
  );
}

function pipelinesJson(deps: WebDeps, snapshot: TenantSnapshot): PipelinesDocument {
  const drivers = new Map(deps.connections().map(connection => [connection.name, connection.driver]));
  return snapshot.pipelines.map(({ pipeline }) => ({
    name: pipeline.name,
    manager: pipeline.manager,
    triggers: pipeline.triggers.map(trigger => ({
      name: trigger.connection,
      driver: drivers.get(trigger.connection) ?? null,
    })),
  }));
}
