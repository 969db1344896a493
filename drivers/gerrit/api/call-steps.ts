/** The steps of one call, for the trace: a `HostQuery` for each request that was sent, a `HostWait` for each wait. */
import type { Nanoseconds } from '../../../src/lib/clock.ts';
import { type ConnectionName, projectKey } from '../../../src/model/project.ts';
import type { Step } from '../../../src/model/step.ts';

/** A request with its answer, or without one. */
export interface GerritQuery {
  readonly operation: string;
  /** Empty: of none. */
  readonly project: string;
  readonly method: string;
  /** Null: no answer came. */
  readonly status: number | null;
  /** Of the answer, as it came over the wire. */
  readonly bytes: number;
  /** Requests of this call before this one. */
  readonly resends: number;
  readonly startedAt: Nanoseconds;
  readonly endedAt: Nanoseconds;
}

export function gerritQueryStep(query: GerritQuery, connection: ConnectionName): Step {
  const { operation, project, method, status, bytes, resends, startedAt, endedAt } = query;
  return {
    kind: 'HostQuery',
    subject: project === '' ? operation : `${operation} ${project}`,
    startedAt,
    endedAt,
    facts: {
      query: operation,
      connection,
      method,
      ...(project === '' ? {} : { project: projectKey({ connection, name: project }) }),
      ...(status === null ? {} : { status, bytes }),
      ...(resends === 0 ? {} : { resends }),
    },
  };
}

/** `outage`: before a repetition. `places`: as many requests as allowed were under way. `stale`: the answer was too old. */
export type GerritWaitReason = 'outage' | 'places' | 'stale';

/** A wait that has ended. */
export interface GerritWait {
  readonly reason: GerritWaitReason;
  readonly startedAt: Nanoseconds;
  readonly endedAt: Nanoseconds;
}

export function gerritWaitStep(
  { reason, startedAt, endedAt }: GerritWait,
  connection?: ConnectionName,
): Step {
  const facts = { reason, ...(connection === undefined ? {} : { connection }) };
  return { kind: 'HostWait', subject: reason, startedAt, endedAt, facts };
}
