/** Requests to hold the hosts of failed builds, for the web: what the store says, and what operators do about them. Each act has a span. */
import { spansCodec } from '../../model/codec/records.ts';
import { askOperation, readHolds, releaseOperations } from '../../nodes/hold-requests.ts';
import { isStateConflict } from '../../nodes/host-state.ts';
import type { SchedulerSettings } from '../../settings/settings.ts';
import { ensureNode } from '../../store/ensure-node.ts';
import { outboxRows } from '../../store/outbox-rows.ts';
import type { Operation, Store } from '../../store/port.ts';
import {
  type ManagementEventFacts,
  managementEventSpans,
} from '../../tracing/spans/management-event-spans.ts';
import type { OperatorRequest, WebDeps } from '../../web/deps.ts';
import type { ProcessCore } from './manage-component.ts';
import { type RequestCore, requestOrigin } from './operator-requests.ts';

/** Of a tenant: each is read when a build of it fails. */
const MOST_HOLDS = 100;
const MOST_TRIES = 20;

type HoldCore = RequestCore & Pick<ProcessCore, 'tracing'>;

/** @param store over all sessions. */
export function holdActs(
  core: HoldCore & Pick<ProcessCore, 'settings'>,
  store: Store,
): Pick<WebDeps, 'holds' | 'hold' | 'deleteHold'> {
  const { paths, clock } = core;
  const place = { store, paths };
  const holdsOf = (tenant: string) => readHolds(place, tenant);
  return {
    holds: holdsOf,
    async hold(request, wanted) {
      await ensureNode(store, paths.holds);
      if ((await holdsOf(request.tenant)).length >= MOST_HOLDS) return 'too-many';
      const { tenant, by, receivedAt: at } = request;
      const expiration = expirationOf(wanted.expiration, core.settings.scheduler);
      const asked = askOperation(place, { ...wanted, expiration, tenant, by, at, count: 0, held: [] });
      const rows = await spansOf(core, store, request, 'autohold', wanted.reason);
      await store.multi([asked, ...rows]);
      return 'stored';
    },
    async deleteHold(request, id) {
      for (let tries = 1; ; tries++) {
        const found = (await holdsOf(request.tenant)).find(hold => hold.id === id);
        if (found === undefined) return 'gone';
        const { hold } = found;
        const ended = await releaseOperations(place, found, hold.held, clock.now(), 'deleted');
        const rows = await spansOf(core, store, request, 'autohold-delete', hold.reason);
        try {
          await store.multi([...ended, ...rows]);
          return 'deleted';
        } catch (error) {
          if (tries >= MOST_TRIES || !isStateConflict(error)) throw error;
        }
      }
    },
  };
}

/** As in Zuul: seconds, 0 until it is deleted. @param wanted null: the default. */
function expirationOf(
  wanted: number | null,
  { defaultHoldExpiration, maxHoldExpiration: most }: SchedulerSettings,
): number {
  const seconds = wanted ?? defaultHoldExpiration;
  return most > 0 && (seconds === 0 || seconds > most) ? most : seconds;
}

/** As an event of the tenant, which no pipeline takes: it is done when it is stored. */
async function spansOf(
  core: HoldCore,
  store: Store,
  request: OperatorRequest,
  command: 'autohold' | 'autohold-delete',
  detail: string,
): Promise<readonly Operation[]> {
  const { tracing, clock, paths } = core;
  const style = tracing.spans();
  const { uuid, by, management } = requestOrigin(core, request);
  if (style === undefined || !management.sampled) return [];
  const now = clock.now();
  const facts: ManagementEventFacts = {
    ...{ event: uuid, command, by, tenant: request.tenant, pipeline: null, change: null },
    ...{ origin: management, takenAt: now, endedAt: now },
    effect: { outcome: command === 'autohold' ? 'held' : 'released', detail, left: [] },
  };
  await ensureNode(store, paths.spanOutbox);
  return outboxRows(paths.spanOutbox, managementEventSpans(facts, style), spansCodec, now);
}
