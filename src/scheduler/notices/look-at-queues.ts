/** Which notices are due by time alone, and when to look again. Pure. */
import type { Forecast } from '../../forecast/forecast.ts';
import type { RecentWork } from '../../forecast/recent-work.ts';
import { millisecondsBetween, type Nanoseconds, toMilliseconds } from '../../lib/clock.ts';
import type { Uuid } from '../../lib/ids.ts';
import type { NoticeEvent, WatchedItem } from '../../model/notice.ts';
import type { ManagerName } from '../../model/pipeline.ts';
import type { PipelineState } from '../../model/pipeline-state.ts';
import { type NoticeRule, wants } from './notice-rules.ts';
import { likelyLanding, slippedNotice, untilSlipped } from './slipped-forecasts.ts';
import { headsOf, heldHeads, stuckNotice } from './stuck-heads.ts';
import type { ItemNotice } from './turn-notices.ts';

/** By item, of those in the pipeline. The same object while nothing changes. */
export type WatchedItems = ReadonlyMap<Uuid, WatchedItem>;

/** What was found. */
export interface Look {
  readonly due: readonly { readonly rule: NoticeRule; readonly about: ItemNotice }[];
  /** With what is due as sent. */
  readonly watched: WatchedItems;
  /** Milliseconds until something may be due without another turn; `Infinity`: never. */
  readonly nextMs: number;
}

/** One moment of a pipeline. */
export interface WatchedQueues {
  readonly state: Pick<PipelineState, 'queues' | 'items'>;
  readonly manager: ManagerName;
  readonly now: Nanoseconds;
  readonly watched: WatchedItems;
}

/** @param rules want stuck heads. */
export function lookAtHeads(
  { state, manager, now, watched: before }: WatchedQueues,
  rules: readonly NoticeRule[],
  recent: RecentWork,
): Look {
  const notes = createNotes(before);
  for (const item of headsOf(state, manager)) {
    const headSince = manager === 'independent' ? item.enqueuedAt : notes.of(item.uuid).headSince;
    if (headSince === undefined) notes.set({ ...notes.of(item.uuid), headSince: now });
    for (const held of heldHeads(item, headSince ?? now, recent))
      for (const rule of rules) {
        const ms = millisecondsBetween(now, held.since) + rule.stuckAfterMs;
        notes.judge(rule, 'head-stuck', held.cause, ms, () => stuckNotice(held, now));
      }
  }
  return notes.look();
}

/** @param rules want forecasts that slipped. */
export function lookAtForecasts(
  { state, now, watched: before }: WatchedQueues,
  rules: readonly NoticeRule[],
  forecasts: ReadonlyMap<Uuid, Forecast>,
): Look {
  const notes = createNotes(before);
  for (const [uuid, forecast] of forecasts) {
    const item = state.items.get(uuid);
    const likely = likelyLanding(forecast);
    if (item === undefined || likely === undefined) continue;
    const note = notes.of(uuid);
    const said = note.said ?? Math.round(likely);
    if (note.said === undefined) notes.set({ ...note, said });
    for (const rule of rules) {
      const ms = untilSlipped(said, likely, rule.slippedByMs);
      notes.judge(rule, 'eta-slipped', '', ms, () => slippedNotice(item, said, likely, toMilliseconds(now)));
    }
  }
  return notes.look();
}

/** Without items that have left. @returns the same object where none has. */
export function stillWatched(watched: WatchedItems, { items }: Pick<PipelineState, 'items'>): WatchedItems {
  const left = [...watched.keys()].filter(uuid => !items.has(uuid));
  return left.length === 0 ? watched : new Map([...watched].filter(([uuid]) => items.has(uuid)));
}

function createNotes(before: WatchedItems) {
  const due: Look['due'][number][] = [];
  let watched: Map<Uuid, WatchedItem> | undefined;
  let nextMs = Number.POSITIVE_INFINITY;
  const of = (item: Uuid): WatchedItem => (watched ?? before).get(item) ?? { item, sent: [] };
  const set = (note: WatchedItem) => {
    watched ??= new Map(before);
    watched.set(note.item, note);
  };
  return {
    of,
    set,
    /** @param ms milliseconds until it is due; at most 0: it is. */
    judge(rule: NoticeRule, event: NoticeEvent, cause: string, ms: number, notice: () => ItemNotice): void {
      if (ms > 0) {
        nextMs = Math.min(nextMs, ms);
        return;
      }
      const about = notice();
      const note = of(about.item.uuid);
      const key = [rule.name, event, cause].join(' ');
      if (note.sent.includes(key) || !wants(rule, event, about.item)) return;
      set({ ...note, sent: [...note.sent, key] });
      due.push({ rule, about });
    },
    look: (): Look => ({ due, watched: watched ?? before, nextMs }),
  };
}
