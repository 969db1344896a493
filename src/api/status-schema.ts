/** Schema of `/api/tenant/<t>/status`; `status.ts` has the encoder. */
import { haltsSchema } from './halts.ts';
import { liveItemSchema } from './live-item.ts';
import {
  byName,
  type Document,
  document,
  flag,
  list,
  milliseconds,
  nanoseconds,
  nullable,
  number,
  oneOf,
  text,
  uuid,
  whole,
} from './schema.ts';
import type { TracingHealth } from './tenant-snapshot.ts';

const seconds = () => nullable(number('Seconds since the epoch'));
const jobSchema = document({
  name: text(),
  uuid: nullable(uuid()),
  result: nullable(text()),
  voting: flag(),
  dependencies: list(text()),
  pipeline: text(),
  tries: whole(),
  queued: flag(),
  canceled: flag(),
  paused: flag(),
  pre_fail: flag(),
  retry: flag(),
  waiting_status: nullable(
    text('executor, dependencies: ..., hold-following: ..., window, code host: ..., repo state'),
  ),
  execute_time: seconds(),
  start_time: seconds(),
  end_time: seconds(),
  estimated_time: nullable(whole('Seconds')),
  elapsed_time: nullable(whole('Milliseconds')),
  remaining_time: nullable(whole('Milliseconds')),
  url: nullable(text()),
  finger_url: nullable(text()),
  report_url: nullable(text()),
});
/** Of the present buildset. Times that are not known, or not reached yet, are null. */
export type StatusJob = Document<typeof jobSchema>;

/** An item as Zuul's clients know it, and each entry of `GET …/status/change/<change>`. */
export const statusItemSchema = document({
  id: uuid(),
  live: flag(),
  active: flag(),
  zuul_ref: text(),
  refs: list(
    document({
      id: text(),
      url: nullable(text()),
      ref: text(),
      project: text(),
      project_canonical: text(),
      owner: nullable(text()),
      commit: nullable(text()),
    }),
  ),
  item_ahead: nullable(uuid()),
  items_behind: list(uuid()),
  failing_reasons: list(text()),
  enqueue_time: whole('Milliseconds since the epoch'),
  remaining_time: nullable(whole('Milliseconds')),
  jobs: list(jobSchema),
  gatehouse: document({
    state: liveItemSchema.properties.state.properties.name,
    since: nanoseconds('Nanoseconds since the epoch'),
    subject: nullable(text()),
    buildset: uuid(),
    resets: liveItemSchema.properties.resets,
    page: text(),
    trace_id: text(),
    trace_url: nullable(text()),
  }),
});
/** Zuul's fields of an item, ours below `gatehouse`. Encoded by `statusItem`, also for a search by change. */
export type StatusItem = Document<typeof statusItemSchema>;

const senderSchema = document({
  at: nanoseconds('Nanoseconds since the epoch'),
  host: text(),
  endpoint: text('Without user and password'),
  protocol: text(),
  state: oneOf(['idle', 'ok', 'failing']),
  sent: whole(),
  requests: nullable(whole(), 'Null: a sender of 0.2'),
  failedRequests: whole(),
  partialSuccesses: whole(),
  lost: byName(whole()),
  lastError: nullable(document({ at: nanoseconds(), text: text() })),
  lastSentAt: nullable(nanoseconds()),
});

/** State of the span delivery. */
export const tracingSchema = document({
  waiting: whole('Rows in the outbox'),
  oldestWaiting: nullable(nanoseconds('Nanoseconds since the epoch')),
  delivered: nullable(whole(), 'Spans sent by the current sender; null: no report yet'),
  lost: byName(whole(), 'Spans that will never arrive, by reason'),
  problem: nullable(text('Why spans are not delivered')),
  sender: nullable(senderSchema),
});

/** Encodes the state of the span delivery. */
export function senderDocument({ sender, ...health }: TracingHealth): Document<typeof tracingSchema> {
  if (sender === null) return { ...health, sender };
  const { traces: _, ...shown } = sender;
  return { ...health, sender: { ...shown, requests: sender.requests ?? null } };
}

const length = document({ length: whole() });
/** `GET …/status`, as Zuul's clients know it. */
export const statusSchema = document({
  zuul_version: text(),
  last_reconfigured: milliseconds(),
  trigger_event_queue: length,
  management_event_queue: length,
  connection_event_queues: byName(length),
  pipelines: list(
    document({
      name: text(),
      description: nullable(text()),
      state: oneOf(['normal', 'disabled']),
      manager: text(),
      triggers: list(document({ name: text() })),
      trigger_events: whole(),
      result_events: whole(),
      management_events: whole(),
      change_queues: list(
        document({
          name: text(),
          branch: nullable(text()),
          window: whole('0: no limit'),
          heads: list(list(statusItemSchema)),
        }),
      ),
      gatehouse: document({
        halts: haltsSchema,
        items: whole('In its queues, also those that the answer leaves out'),
      }),
    }),
  ),
  gatehouse: document({ tracing: nullable(tracingSchema, 'Null: tracing is off') }),
});
/** Of one tenant. It differs at every call, but caches may keep it for a second (status-routes.ts). */
export type StatusDocument = Document<typeof statusSchema>;
