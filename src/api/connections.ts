/** `/api/connections`: the connections under Zuul's names, with the state of their code hosts in a `gatehouse` block. */
import { type Nanoseconds, toMilliseconds } from '../lib/clock.ts';
import type { ConnectionHealth, ConnectionReport } from '../model/connection-health.ts';
import type { HostTroubleReason } from '../model/host-trouble.ts';
import { type Document, document, list, milliseconds, nullable, oneOf, text, whole } from './schema.ts';

const STATES: { readonly [state in ConnectionHealth['state']]: true } = {
  unknown: true,
  serving: true,
  limited: true,
  failing: true,
};
const REASONS: { readonly [reason in HostTroubleReason]: true } = {
  unreachable: true,
  limited: true,
  denied: true,
  timeout: true,
  locked: true,
  'bad-url': true,
  'missing-ref': true,
  'too-large': true,
  aborted: true,
  other: true,
};

const healthSchema = document({
  state: oneOf(Object.keys(STATES) as ConnectionHealth['state'][]),
  text: text('For people'),
  limited_until: nullable(milliseconds(), 'End of a rate limit, from the host'),
  last_event_at: nullable(milliseconds(), 'Arrival of the last processed event'),
  missed: whole('Changes found by a poll before a webhook reported them, since the holder began'),
  reported_at: milliseconds(),
  holder: text('The scheduler that holds the connection'),
  waiting_count: whole('Repositories whose events wait for the host'),
  waiting: list(
    document({
      lane: text('Repository'),
      reason: oneOf(Object.keys(REASONS) as HostTroubleReason[]),
      text: text('For people'),
      since: milliseconds(),
      retry_at: milliseconds(),
    }),
    'The first twenty',
  ),
});

/** `GET /api/connections`. */
export const connectionsSchema = list(
  document({
    name: text(),
    driver: text(),
    canonical_hostname: text(),
    gatehouse: document({ health: nullable(healthSchema, 'Null: unknown') }),
  }),
);
/** Health is as old as its `reported_at`; null until a scheduler has reported it, and for a driver that knows none. */
export type ConnectionsDocument = Document<typeof connectionsSchema>;

interface ShownConnection {
  readonly name: string;
  readonly driver: string;
  readonly canonicalHostname: string;
}

/** @param reportOf last report of the scheduler that holds a connection; undefined: none. */
export function connectionsDocument(
  connections: readonly ShownConnection[],
  reportOf: (name: string) => ConnectionReport | undefined,
): ConnectionsDocument {
  return connections.map(({ name, driver, canonicalHostname }) => ({
    ...{ name, driver, canonical_hostname: canonicalHostname },
    gatehouse: { health: healthJson(reportOf(name)) },
  }));
}

function healthJson(report: ConnectionReport | undefined): Document<typeof healthSchema> | null {
  if (report === undefined) return null;
  return {
    state: report.state,
    text: report.text,
    limited_until: report.limitedUntil === null ? null : shown(report.limitedUntil),
    last_event_at: report.lastEventAt === null ? null : shown(report.lastEventAt),
    missed: report.missed,
    reported_at: shown(report.at),
    holder: report.holder,
    waiting_count: report.waitingLanes,
    waiting: report.waiting.map(({ lane, reason, text: said, since, retryAt }) => ({
      ...{ lane, reason, text: said },
      since: shown(since),
      retry_at: shown(retryAt),
    })),
  };
}

function shown(time: Nanoseconds): number {
  return Math.round(toMilliseconds(time));
}
