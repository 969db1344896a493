/** The steps of one call, for the trace: a `HostQuery` for each request that was sent, a `HostWait` for each wait. */
import type { Nanoseconds } from '../../../src/lib/clock.ts';
import { type ConnectionName, projectKey } from '../../../src/model/project.ts';
import type { Step } from '../../../src/model/step.ts';
import type { GithubHeaders } from './send.ts';

/** A request with its answer, or without one. */
export interface QueryStep {
  readonly operation: string;
  /** `owner/name`. */
  readonly repository: string;
  readonly method: string;
  /** Null: no answer came. */
  readonly status: number | null;
  readonly headers: GithubHeaders;
  /** Requests of this call before this one. */
  readonly resends: number;
  readonly startedAt: Nanoseconds;
  readonly endedAt: Nanoseconds;
}

/** A wait, or a time before which GitHub is not asked. */
export interface WaitStep {
  readonly reason: 'primary-limit' | 'secondary-limit' | 'reserve' | 'spacing' | 'outage' | 'stale';
  readonly startedAt: Nanoseconds;
  /** Absent: GitHub named no time. */
  readonly until?: Nanoseconds;
  /** Key of the budget: the installation's id, `app` or `token`. */
  readonly installation: string;
}

/** What all steps of a connection share. */
export interface StepPlace {
  readonly connection: ConnectionName;
}

export function queryStep(query: QueryStep, { connection }: StepPlace): Step {
  const { operation, repository, method, status, headers, resends } = query;
  const remaining = Number(headers['x-ratelimit-remaining'] ?? Number.NaN);
  const request = headers['x-github-request-id'];
  return {
    kind: 'HostQuery',
    subject: `${operation} ${repository}`,
    startedAt: query.startedAt,
    endedAt: query.endedAt,
    facts: {
      query: operation,
      connection,
      project: projectKey({ connection, name: repository }),
      method,
      cached: status === 304,
      cost: status === 304 || status === null ? 0 : 1,
      ...(status === null ? {} : { status }),
      ...(resends === 0 ? {} : { resends }),
      ...(Number.isSafeInteger(remaining) ? { remaining } : {}),
      ...(request !== undefined && /^[\w:.-]{1,100}$/.test(request) ? { requestId: request } : {}),
    },
  };
}

export function waitStep(
  { reason, startedAt, until, installation }: WaitStep,
  { connection }: StepPlace,
  endedAt: Nanoseconds,
): Step {
  return {
    kind: 'HostWait',
    subject: reason,
    startedAt,
    endedAt,
    facts: { reason, connection, installation, ...(until === undefined ? {} : { until }) },
  };
}
