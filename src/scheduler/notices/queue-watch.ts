/**
 * Watches the queues of a pipeline for what is noticed by time alone: a head that is stuck, a forecast that slipped. For its holder,
 * and only where a rule asks for it.
 *
 * Turns give the state. Between turns one timer is set, for the next moment at which something may be due; forecasts are made once a
 * minute at most. What was sent is stored in the commit that requests the message, so the next holder sends nothing twice; what was
 * first forecast is stored within a minute.
 */
import { aborted } from '../../lib/aborted.ts';
import type { Uuid } from '../../lib/ids.ts';
import { pause } from '../../lib/pause.ts';
import { createDirty } from '../../lib/signal.ts';
import { pipelineNoticesCodec } from '../../model/codec/records.ts';
import type { WatchedItem } from '../../model/notice.ts';
import { EMPTY_PIPELINE, type PipelineState } from '../../model/pipeline-state.ts';
import { ensureNode } from '../../store/ensure-node.ts';
import type { Fence } from '../../store/fence.ts';
import { set } from '../../store/port.ts';
import type { Quarantine } from '../../store/quarantine.ts';
import type { PipelineContext } from '../turn/pipeline-context.ts';
import { untilDirty } from '../until-dirty.ts';
import {
  type Look,
  lookAtForecasts,
  lookAtHeads,
  stillWatched,
  type WatchedItems,
} from './look-at-queues.ts';
import { noticeFor } from './notice-intents.ts';
import type { NoticeRule } from './notice-rules.ts';

/** Of one pipeline. */
export interface QueueWatchDeps {
  readonly tenant: string;
  readonly pipeline: string;
  /** Where the record is. */
  readonly path: string;
  readonly quarantine: Quarantine;
  context(): PipelineContext;
}

/** Loses nothing but time when it stops at any point. */
export interface QueueWatch {
  /** A turn has ended with this state. */
  observe(state: PipelineState): void;
  /** Until aborted. @throws Fenced when the fence is lost. */
  run(fence: Fence, signal: AbortSignal): Promise<void>;
}

/** Milliseconds between two looks. */
const SPACING = 1_000;
/** Milliseconds between two forecasts, and two commits of what is only remembered. */
const MINUTE = 60_000;
/** Milliseconds of the longest timer: a clock that jumps is noticed. */
const LONGEST = 600_000;
/** Items that are remembered: those ahead. */
const MOST = 2_000;

/** Looks at nothing before `run`. */
export function createQueueWatch(deps: QueueWatchDeps): QueueWatch {
  const dirty = createDirty();
  let state: PipelineState = EMPTY_PIPELINE;
  const rules = deps.context().notices.of(deps.tenant, deps.pipeline);
  const stuck = rules.filter(({ events }) => events.includes('head-stuck'));
  const slipped = rules.filter(({ events }) => events.includes('eta-slipped'));
  const isIdle = stuck.length + slipped.length === 0;

  async function load(signal: AbortSignal): Promise<WatchedItems> {
    const { store } = deps.context();
    await ensureNode(store, deps.path, signal);
    const node = await store.get(deps.path);
    const isWritten = node !== undefined && node.data.byteLength > 0;
    const stored = isWritten
      ? await deps.quarantine.read(pipelineNoticesCodec, deps.path, node, { keepNode: true })
      : undefined;
    return new Map((stored ?? []).map(each => [each.item, each]));
  }

  return {
    observe(next) {
      state = next;
      if (!isIdle) dirty.set();
    },
    async run(fence, signal) {
      if (isIdle) return aborted(signal);
      const looking = createLooks(await load(signal), { stuck, slipped }, deps);
      while (!signal.aborted) {
        let nextMs = MINUTE;
        try {
          nextMs = await looking.look(state, fence);
        } catch (error) {
          if (signal.aborted || !fence.held) throw error;
          deps.context().log.warn({ err: error }, 'the queues could not be watched for notices; retrying');
        }
        await pause(SPACING, signal);
        await untilDirty(dirty, Math.min(LONGEST, Math.max(0, nextMs - SPACING)), signal);
      }
    },
  };
}

interface WatchedRules {
  readonly stuck: readonly NoticeRule[];
  readonly slipped: readonly NoticeRule[];
}

/** Of one term of the holder. */
function createLooks(
  loaded: WatchedItems,
  { stuck, slipped }: WatchedRules,
  deps: Pick<QueueWatchDeps, 'path' | 'context'>,
) {
  let watched = loaded;
  let stored = loaded;
  let forecastOf: PipelineState | undefined;
  let [forecastAt, slipAt, saveAt] = [0, 0, 0];

  async function atHeads(state: PipelineState): Promise<Look> {
    const { pipeline, forecasts, clock } = deps.context();
    const { manager } = pipeline;
    const recent = await forecasts.recent();
    return lookAtHeads({ state, manager, now: clock.now(), watched }, stuck, recent);
  }

  async function atForecasts(state: PipelineState, mono: number): Promise<Look> {
    const { pipeline, forecasts, clock } = deps.context();
    const { manager } = pipeline;
    const all = await forecasts.of(state, pipeline);
    const look = lookAtForecasts({ state, manager, now: clock.now(), watched }, slipped, all);
    forecastOf = state;
    forecastAt = mono + MINUTE;
    slipAt = mono + Math.max(MINUTE, look.nextMs);
    return look;
  }

  async function save(due: Look['due'], mono: number, fence: Fence): Promise<void> {
    const context = deps.context();
    const now = context.clock.now();
    const messages = due.flatMap(({ rule, about }) => noticeFor(rule, about, now, context));
    await fence.commit([set(deps.path, encoded(watched)), ...messages], context.ids.uuid());
    stored = watched;
    saveAt = mono + MINUTE;
  }

  /** When forecasts are to be looked at; `Infinity`: with the next turn. */
  function forecastDue(state: PipelineState): number {
    if (slipped.length === 0 || state.items.size === 0) return Number.POSITIVE_INFINITY;
    return forecastOf === state ? slipAt : forecastAt;
  }

  return {
    /** @returns milliseconds until the next look; `Infinity`: with the next turn. */
    async look(state: PipelineState, fence: Fence): Promise<number> {
      const mono = deps.context().clock.monotonic();
      watched = stillWatched(watched, state);
      const heads = stuck.length === 0 ? undefined : await atHeads(state);
      watched = heads?.watched ?? watched;
      const late = forecastDue(state) > mono ? undefined : await atForecasts(state, mono);
      watched = late?.watched ?? watched;
      const due = [...(heads?.due ?? []), ...(late?.due ?? [])];
      if (watched !== stored && (due.length > 0 || saveAt <= mono)) await save(due, mono, fence);
      const headsMs = heads?.nextMs ?? Number.POSITIVE_INFINITY;
      const saveMs = watched === stored ? Number.POSITIVE_INFINITY : saveAt - mono;
      return Math.min(headsMs, saveMs, forecastDue(state) - mono);
    },
  };
}

/** Those that are remembered for longest come first. */
function encoded(watched: WatchedItems): Uint8Array {
  const all: readonly (readonly [Uuid, WatchedItem])[] = [...watched];
  return pipelineNoticesCodec.encode(all.slice(0, MOST).map(([, each]) => each));
}
