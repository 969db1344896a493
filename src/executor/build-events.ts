/** The events an executor sends to the pipeline of a build. Uuids are derived, so that a repeated event is recognised. */

import type { Nanoseconds } from '../lib/clock.ts';
import { derivedUuid } from '../lib/ids.ts';
import type { WorkerEnd } from '../model/build.ts';
import type { BuildRequest } from '../model/build-request.ts';
import type { Returned } from '../model/returned.ts';
import type { BuildEvent, BuildResultEvent } from './deps.ts';
import type { ReachedHost } from './hosts/node-provider.ts';
import type { FinishedBuild } from './run-build.ts';

/** Sent once per claimed build, before any work. @param worker name of this executor. @param hosts of the build. */
export function startedEvent(
  request: BuildRequest,
  at: Nanoseconds,
  worker: string,
  hosts: readonly ReachedHost[] = [],
): BuildEvent {
  const nodes = hosts.flatMap(({ host, times }) =>
    times === undefined ? [] : [{ name: host.address, ...times }],
  );
  const made = nodes.length === 0 ? {} : { nodes };
  return { kind: 'build-started', ...eventOf(request, 'build-started'), at, worker, ...made };
}

/**
 * Sent once, when the run phase has failed, or is certain to, and something still runs: the item need not wait for the result.
 *
 * @param early why it is certain; undefined: run has ended.
 */
export function failingEvent(request: BuildRequest, at: Nanoseconds, early?: string): BuildEvent {
  const why = early === undefined ? {} : { early };
  return { kind: 'build-failing', ...eventOf(request, 'build-failing'), at, ...why };
}

/** Sent once, when run has passed and the build is to wait for those that depend on it. @param returned by then; undefined: nothing. */
export function pausedEvent(
  request: BuildRequest,
  at: Nanoseconds,
  returned: Returned | undefined,
): BuildEvent {
  const more = returned === undefined ? {} : { returned };
  return { kind: 'build-paused', ...eventOf(request, 'build-paused'), at, ...more };
}

/** @param workerEnd of a RETRY: it does not count as an attempt, because the executor failed. */
export function resultEvent(
  request: BuildRequest,
  finished: FinishedBuild,
  worker: string,
  workerEnd: WorkerEnd | undefined,
): BuildResultEvent {
  const { result, detail, execution, trouble, returned } = finished;
  return {
    kind: 'build-result',
    ...eventOf(request, 'build-result'),
    at: execution.endedAt,
    result,
    worker,
    execution,
    of: {
      job: request.jobName,
      attempt: request.attempt,
      requestedAt: request.requestedAt,
      trace: request.trace,
    },
    ...(detail === undefined ? {} : { detail }),
    ...(trouble === undefined ? {} : { trouble }),
    ...(returned === undefined ? {} : { returned }),
    ...(workerEnd === undefined || result !== 'RETRY' ? {} : { workerEnd }),
  };
}

function eventOf(request: BuildRequest, kind: string) {
  return {
    uuid: derivedUuid(request.uuid, kind),
    item: request.item,
    buildset: request.buildset,
    build: request.uuid,
  };
}
