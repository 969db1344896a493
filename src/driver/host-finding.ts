/** What a driver finds out about one event, before it becomes the answer of `Source.process` (answer-event.ts). */
import type { Change, ChangeRecord } from '../model/change.ts';
import type { TriggerEvent } from '../model/event.ts';
import type { Json } from '../model/job.ts';
import type { ProcessedEvent, ProcessedLater } from './source.ts';

/** A trigger event without what it has in common with all others. The other fields are as in `TriggerEvent`. */
export interface HostHappening<Facts extends Json = Json>
  extends Partial<Pick<TriggerEvent, 'tree' | 'ownReport' | 'configMayHaveChanged' | 'branchesChanged'>> {
  readonly type: string;
  readonly change: Change;
  readonly facts: Facts;
}

/** What happened, as far as tenants can see it. The other fields are as in `ProcessedEvent`. */
export interface HostFinding<Facts extends Json = Json>
  extends Partial<
    Pick<ProcessedEvent, 'refusals' | 'dequeues' | 'promotes' | 'questions' | 'again' | 'discarded'>
  > {
  /** In order. */
  readonly happened: readonly HostHappening<Facts>[];
  readonly changes: readonly ChangeRecord[];
  readonly memory: ProcessedEvent['memory'];
  /** Branches, or their rules, may differ: configuration is compared with what was read before. */
  readonly lookAgain?: true;
}

/** A finding, or that the host does not serve now. */
export type HostFound<Facts extends Json = Json> = HostFinding<Facts> | ProcessedLater;

/** Nothing happened. @param discarded why, in one clause for people. */
export function nothingFound(discarded: string, memory: ProcessedEvent['memory'] = []): HostFinding<never> {
  return { happened: [], changes: [], memory, discarded };
}
