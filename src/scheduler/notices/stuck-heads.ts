/**
 * Items at the head of their queue that wait, or run, for too long: everything behind them waits with them. Pure.
 *
 * A wait counts from its own begin, or from when the item became the head if that was later. A job counts from when it had run as
 * long as 19 of 20 of its last successes.
 */
import type { RecentWork } from '../../forecast/recent-work.ts';
import { addMilliseconds, laterOf, millisecondsBetween, type Nanoseconds } from '../../lib/clock.ts';
import { durationText } from '../../lib/duration-text.ts';
import { percentile } from '../../lib/percentile.ts';
import { leadChange } from '../../model/about-item.ts';
import { startOfBuild } from '../../model/build.ts';
import { ITEM_STATES } from '../../model/item-states.ts';
import type { ManagerName } from '../../model/pipeline.ts';
import type { PipelineState } from '../../model/pipeline-state.ts';
import type { QueueItem } from '../../model/queue-item.ts';
import type { ItemNotice } from './turn-notices.ts';

/** What holds a head up. */
export interface HeldHead {
  readonly item: QueueItem;
  /** Names the wait. Later ones of the same name are the same cause. */
  readonly cause: string;
  /** From when it counts; in the future while a job runs no longer than usual. */
  readonly since: Nanoseconds;
  /** One clause with `it` as its subject, at a time. */
  readonly text: (now: Nanoseconds) => string;
}

/** The items that others wait for. Where items are alone each is a head. */
export function headsOf(
  { queues, items }: Pick<PipelineState, 'queues' | 'items'>,
  manager: ManagerName,
): readonly QueueItem[] {
  const heads = queues.flatMap(queue => (manager === 'independent' ? queue.items : queue.items.slice(0, 1)));
  return heads.flatMap(uuid => items.get(uuid) ?? []).filter(({ role }) => role === 'live');
}

/** @param headSince when it became the head. */
export function heldHeads(item: QueueItem, headSince: Nanoseconds, recent: RecentWork): readonly HeldHead[] {
  const { state, since, subject } = item.timeline.at(-1) ?? item.timeline[0];
  if (state === 'running') return runningJobs(item, recent);
  const from = laterOf(since, headSince);
  return [
    {
      item,
      cause: state,
      since: from,
      text: now =>
        `it ${ITEM_STATES[state].now(subject)}, for ${durationText(millisecondsBetween(from, now))} now`,
    },
  ];
}

function runningJobs(item: QueueItem, recent: RecentWork): readonly HeldHead[] {
  const { project } = leadChange(item);
  return item.buildset.builds.flatMap(build => {
    const start = build.state.state === 'started' ? startOfBuild(build) : null;
    if (start === null) return [];
    const samples = recent.job(project, build.job)?.good ?? [];
    const usual = percentile(
      samples.toSorted((a, b) => a - b),
      0.95,
    );
    const most = usual === null ? '' : `; 19 of 20 times it takes no more than ${durationText(usual)}`;
    return [
      {
        item,
        cause: `job ${build.job}`,
        since: addMilliseconds(start, usual ?? 0),
        text: now =>
          `its job ${build.job} has run for ${durationText(millisecondsBetween(start, now))}${most}`,
      },
    ];
  });
}

/** What people read. @param held is due. */
export function stuckNotice({ item, cause, text }: HeldHead, now: Nanoseconds): ItemNotice {
  return {
    item,
    notice: { event: 'head-stuck', cause },
    headline: `Holds up ${item.pipeline}: ${text(now)}.`,
    occasion: { action: 'start', result: '' },
  };
}
