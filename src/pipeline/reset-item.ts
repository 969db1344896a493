/**
 * The gate reset: what an item is tested as has changed, so the buildset ends as superseded and a new one begins. The
 * cause, with its culprit, is stored on both.
 *
 * A buildset that was complete stays complete (its end is a fact that may have been exported); it only moves to `earlier`.
 */

import { aboutItem, changesText } from '../model/about-item.ts';
import { type BuildSet, graphOf, newBuildsetOf } from '../model/build-set.ts';
import { type ResetCause, resetText } from '../model/cause.ts';
import type { ItemEvent, QueueItem } from '../model/queue-item.ts';
import { stopWork } from './stop-work.ts';
import { withEvent } from './timeline.ts';
import type { TurnDraft } from './turn-draft.ts';

/** @param cause null for the item's first. */
export function newBuildset(draft: TurnDraft, number: number, cause: ResetCause | null): BuildSet {
  const { ids, now } = draft.input;
  return newBuildsetOf({ uuid: ids.uuid(), number, createdAt: now, cause });
}

/** Ends the buildset without a successor: the item waits for a change it needs. */
export function supersede(draft: TurnDraft, item: QueueItem, cause: ResetCause): QueueItem {
  return { ...item, buildset: superseded(draft, item.buildset, cause) };
}

/** A new buildset in place of the current one, and the record of why. */
export function resetItem(draft: TurnDraft, item: QueueItem, cause: ResetCause): QueueItem {
  const old = item.buildset;
  const { hostWait, ...rest } = item;
  const next: QueueItem = {
    ...rest,
    // A wait to build or to land concerned the old buildset.
    ...(hostWait?.doing === 'merge' ? { hostWait } : {}),
    phase: { phase: 'queued' },
    earlier: [...item.earlier, superseded(draft, old, cause)],
    buildset: newBuildset(draft, old.number + 1, cause),
  };
  const retest = cause.code === 'base-moved' && item.phase.phase === 'reporting';
  draft.decide(
    retest ? 'retest' : 'reset',
    aboutItem(item),
    `${changesText(item)} is tested again: ${resetText(cause)}`,
  );
  return withEvent(next, resetEvent(old, cause, retest ? 'retest' : 'reset'));
}

function superseded(draft: TurnDraft, buildset: BuildSet, cause: ResetCause): BuildSet {
  if (buildset.stage.state === 'complete' || buildset.stage.state === 'superseded') return buildset;
  const code = cause.code === 'needed-change-failing' ? 'needed-change-failing' : 'reset';
  const stopped = stopWork(draft, buildset, { code, at: cause.at, culprit: cause.culprit });
  return { ...stopped, stage: { state: 'superseded', at: cause.at, cause, graph: graphOf(buildset) } };
}

function resetEvent(old: BuildSet, cause: ResetCause, name: 'reset' | 'retest'): ItemEvent {
  const { culprit } = cause;
  return {
    at: cause.at,
    name,
    facts: {
      buildset: old.uuid,
      number: old.number,
      cause: cause.code,
      ...(culprit === null ? {} : { culprit: culprit.change, item: culprit.item }),
      ...(culprit?.build === undefined ? {} : { build: culprit.build }),
      ...(culprit?.job === undefined ? {} : { job: culprit.job }),
      ...(culprit?.result === undefined ? {} : { result: culprit.result }),
    },
  };
}
