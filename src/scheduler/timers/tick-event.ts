/** One event of a timer: a branch as its host has it now, for one pipeline. */
import { refUpdate, refUpdateRecord } from '../../driver/ref-update.ts';
import { TIMER } from '../../layout/build/timer-trigger.ts';
import type { Nanoseconds } from '../../lib/clock.ts';
import { derivedUuid } from '../../lib/ids.ts';
import type { ChangeRecord } from '../../model/change.ts';
import type { PipelineEvent } from '../../model/event.ts';
import type { Pipeline } from '../../model/pipeline.ts';
import type { BranchName, CommitId, ProjectKey } from '../../model/project.ts';
import type { Tick } from '../../model/tick.ts';
import type { EventQueue } from '../../store/event-queue.ts';
import type { Operation } from '../../store/port.ts';
import { type DirectEventDeps, directEventOperations } from '../events/direct-event.ts';

/** The branch, and when its host was asked. */
export interface BranchNow {
  readonly project: ProjectKey;
  readonly branch: BranchName;
  readonly commit: CommitId;
  readonly askedAt: Nanoseconds;
}

/** What the event comes to. `record`: for the change cache. */
export interface TickEvent {
  readonly operations: readonly Operation[];
  readonly record: ChangeRecord;
}

/** @param queue that of the pipeline. */
export function tickEvent(
  tick: Tick,
  { project, branch, commit, askedAt }: BranchNow,
  { pipeline, queue }: { readonly pipeline: Pipeline; readonly queue: EventQueue<PipelineEvent> },
  deps: DirectEventDeps,
): TickEvent {
  const change = refUpdate(project, { ref: `refs/heads/${branch}`, before: null, after: commit });
  const event = {
    uuid: derivedUuid(tick.uuid, project, branch),
    ...{ connection: TIMER, type: TIMER, change, facts: { time: tick.time } },
    ...{ source: tick.uuid, receivedAt: tick.queuedAt, madeAt: tick.at },
    ...{ startedAt: askedAt, queries: [], causedBy: null },
  };
  return {
    operations: directEventOperations(event, [{ pipeline, matched: `time ${tick.time}`, queue }], deps),
    record: refUpdateRecord(change, {}, deps.clock.now()),
  };
}
