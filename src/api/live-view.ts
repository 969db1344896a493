/** The documents of a tenant's live stream other than items: the tenant, and each pipeline. */

import type { Nanoseconds } from '../lib/clock.ts';
import { toMilliseconds } from '../lib/clock.ts';
import type { NoticeBounds } from '../model/notice-bounds.ts';
import { haltsDocument, haltsSchema } from './halts.ts';
import {
  byName,
  type Document,
  document,
  flag,
  list,
  milliseconds,
  nullable,
  text,
  uuid,
  whole,
} from './schema.ts';
import { countSemaphoreWaits } from './semaphores.ts';
import { tracingSchema } from './status-schema.ts';
import type { PipelineSnapshot as PipelineFacts, TenantSnapshot } from './tenant-snapshot.ts';

const liveTracingSchema = document({
  waiting: whole('Rows in the outbox'),
  oldestWaiting: nullable(milliseconds()),
  delivered: tracingSchema.properties.delivered,
  lost: tracingSchema.properties.lost,
  problem: tracingSchema.properties.problem,
});

/** Document `tenant` of the live stream. */
export const liveTenantSchema = document({
  name: text(),
  missing: list(text('Kind of component without a registered process')),
  awaySince: nullable(milliseconds(), 'The document shows the state at this time; null: the current state'),
  reconfiguredAt: milliseconds(),
  triggerEvents: whole('Events waiting to be forwarded to pipelines'),
  managementEvents: whole(),
  connectionEvents: byName(whole(), 'Waiting events by connection'),
  projects: whole(),
  configErrors: whole(),
  semaphoreWaits: whole('Jobs that could start but for a semaphore'),
  tracing: nullable(liveTracingSchema, 'Delivery of spans; null: tracing is off'),
});
/** What the page's header needs; items and pipelines are documents of their own, so that a change of one sends only that. */
export type LiveTenant = Document<typeof liveTenantSchema>;

/** Documents `pipeline/<name>` of the live stream. */
export const livePipelineSchema = document({
  name: text(),
  position: whole("In the layout's order"),
  description: nullable(text()),
  manager: text(),
  disabled: flag('Disabled after too many failures'),
  halts: haltsSchema,
  events: whole('Events waiting for its next turn'),
  notices: document(
    {
      stuckAfter: whole('For which its head waits for one thing'),
      slippedBy: whole('By which a landing is forecast later than at first'),
    },
    'Milliseconds from which on pages notify: the least that a rule [notify NAME] has for the pipeline',
  ),
  queues: list(
    document({
      key: text(),
      name: text(),
      window: whole('0: no limit'),
      items: list(uuid(), 'Oldest first'),
    }),
    'Queues with items',
  ),
});
/** A pipeline's place and queues. Its items are only named: their documents change more often. */
export type LivePipeline = Document<typeof livePipelineSchema>;

/** Kinds of components that the gate cannot work without. */
const NEEDED = ['scheduler', 'merger', 'executor'] as const;

/** @param present kinds of registered components. @param awaySince when contact with the store was lost; null: there is contact. */
export function liveTenant(
  name: string,
  { tracing, ...snapshot }: TenantSnapshot,
  present: ReadonlySet<string>,
  awaySince: Nanoseconds | null,
): LiveTenant {
  return {
    name,
    missing: NEEDED.filter(kind => !present.has(kind)),
    awaySince: awaySince === null ? null : toMilliseconds(awaySince),
    reconfiguredAt: toMilliseconds(snapshot.reconfiguredAt),
    triggerEvents: snapshot.triggerEvents,
    managementEvents: snapshot.managementEvents,
    connectionEvents: snapshot.connectionEvents,
    projects: snapshot.projects.length,
    configErrors: snapshot.configErrors.length + snapshot.hostFaults.length,
    semaphoreWaits: countSemaphoreWaits(snapshot),
    tracing:
      tracing === null
        ? null
        : {
            waiting: tracing.waiting,
            oldestWaiting: tracing.oldestWaiting === null ? null : toMilliseconds(tracing.oldestWaiting),
            delivered: tracing.delivered,
            lost: tracing.lost,
            problem: tracing.problem,
          },
  };
}

/** @param position in the layout's order, from 0. @param notices of the pipeline. */
export function livePipeline(
  { pipeline, state, triggerEvents, resultEvents }: PipelineFacts,
  position: number,
  notices: NoticeBounds,
): LivePipeline {
  return {
    name: pipeline.name,
    position,
    description: pipeline.description ?? null,
    manager: pipeline.manager,
    disabled: state.disabled,
    halts: haltsDocument(state),
    events: triggerEvents + resultEvents,
    notices: { stuckAfter: notices.stuckAfterMs, slippedBy: notices.slippedByMs },
    queues: state.queues
      .filter(queue => queue.items.length > 0)
      .map(queue => ({ key: queue.key, name: queue.name, window: queue.window, items: queue.items })),
  };
}
