/**
 * Keeps what hosts show of items that wait or run up to date: place in the queue, jobs that run, when it will probably end. For
 * reporters that have `progress`, and on what an earlier report of the item wrote there.
 *
 * Turns give the state; nothing is polled, and nothing happens in a pipeline whose start reporters have no `progress`. An item is
 * shown anew at most once a minute and only when something differs, one item at a time. Each call runs in the lane of the item's
 * reports: never beside one, and never after the result, because an item whose result is under way is not in the state as queued.
 *
 * Nothing is stored. What is lost is only a text: the next scheduler shows each item again a minute after it took over.
 */
import type { Connection } from '../../driver/connection.ts';
import type { Reporter } from '../../driver/reporter.ts';
import type { Forecast } from '../../forecast/forecast.ts';
import { millisecondsBetween } from '../../lib/clock.ts';
import type { Uuid } from '../../lib/ids.ts';
import { pause } from '../../lib/pause.ts';
import { createDirty } from '../../lib/signal.ts';
import type { Change } from '../../model/change.ts';
import { earlierReports } from '../../model/earlier-reports.ts';
import type { DriverConfig } from '../../model/pipeline.ts';
import { EMPTY_PIPELINE, type PipelineState } from '../../model/pipeline-state.ts';
import type { ConnectionName } from '../../model/project.ts';
import type { QueueItem } from '../../model/queue-item.ts';
import type { Operation } from '../../store/port.ts';
import { itemLogFacts } from '../../tracing/log-facts.ts';
import { untilDirty } from '../until-dirty.ts';
import { type ProgressContext, progressReport } from './progress-report.ts';
import { type ShowDeps, type ShownPlace, showAt } from './show-at.ts';

/** Of one pipeline, for its holder. */
export interface LiveProgressDeps extends ShowDeps {
  readonly connections: ReadonlyMap<ConnectionName, Connection>;
}

/** Runs the task in the lane of the item's reports. Resolves when it has ended. */
export type InLane = (item: QueueItem, task: () => Promise<void>) => Promise<void>;

/** What the pipeline's holder lends. */
export interface ProgressActing {
  readonly inLane: InLane;
  /** False: another process may hold the pipeline by now. */
  readonly mayAct: () => boolean;
  /** The layout in force lets us write about the change. */
  readonly mayShow: (change: Change) => Promise<boolean>;
  /** Writes traces of texts. */
  readonly commit: (operations: readonly Operation[]) => Promise<unknown>;
}

/** Loses nothing that matters when it stops at any point. */
export interface LiveProgress {
  /** A turn has ended with this state. */
  observe(state: PipelineState, context: ProgressContext): void;
  /** Until aborted. */
  run(acting: ProgressActing, signal: AbortSignal): Promise<void>;
}

/** Milliseconds between two texts of one item. */
const INTERVAL = 60_000;
/** Milliseconds between two passes over the items. */
const SPACING = 1_000;
/** Milliseconds between two looks at the clock while a text is due later: a clock that jumps, or runs fast, is noticed. */
const LONGEST_NAP = 5_000;
/** Milliseconds without calls after one that a host did not take, unless it names a time. */
const QUIET = 60_000;

type Forecasts = ReadonlyMap<Uuid, Forecast>;

/** Of one item. Times are the monotonic clock's. */
interface Shown {
  dueAt: number;
  /** The state it was last compared with; null: none. */
  seen: PipelineState | null;
  /** What was last shown, as JSON; null: nothing, or it is not known whether the host took it. */
  facts: string | null;
}

type Acting = ProgressActing & { readonly signal: AbortSignal };

/** Shows nothing before `run`. */
export function createLiveProgress(deps: LiveProgressDeps): LiveProgress {
  const { clock, connections, log } = deps;
  const dirty = createDirty();
  const shown = new Map<Uuid, Shown>();
  let state: PipelineState = EMPTY_PIPELINE;
  let context: ProgressContext | undefined;
  let quietUntil = 0;

  const reporters = () => (context === undefined ? [] : showingReporters(context, connections));

  async function show(uuid: Uuid, entry: Shown, forecasts: Forecasts, acting: Acting): Promise<void> {
    const item = state.items.get(uuid);
    const places = item === undefined ? [] : placesOf(item, reporters());
    if (context === undefined || item === undefined || places.length === 0) return;
    const report = progressReport(item, state, forecasts.get(uuid), context);
    const facts = JSON.stringify([report.progress, report.retests, report.jobs]);
    if (facts === entry.facts) return;
    entry.facts = null;
    const options = context.spans();
    const later = await showAt(places, { item, report, options }, deps, acting);
    if (later === undefined) {
      entry.facts = facts;
      return;
    }
    const named = later.notBefore === undefined ? 0 : millisecondsBetween(clock.now(), later.notBefore);
    quietUntil = clock.monotonic() + Math.max(QUIET, named);
    log.debug({ ...itemLogFacts(uuid), reason: later.text }, 'the host does not show where items are now');
  }

  /** Results do not depend on what is shown before them, so no error ends more than one text. */
  async function tryToShow(uuid: Uuid, entry: Shown, forecasts: Forecasts, acting: Acting): Promise<void> {
    try {
      await show(uuid, entry, forecasts, acting);
    } catch (error) {
      if (acting.signal.aborted || !acting.mayAct()) return;
      quietUntil = clock.monotonic() + QUIET;
      log.warn({ ...itemLogFacts(uuid), err: error }, 'where an item is could not be shown');
    }
  }

  /** One at a time, so that results never wait for a place behind many of these. @returns when the next is due; undefined: none is. */
  async function pass(acting: Acting): Promise<number | undefined> {
    let next: number | undefined;
    const wanted = reporters();
    for (const item of [...state.items.values()].filter(each => placesOf(each, wanted).length > 0)) {
      if (acting.signal.aborted) return undefined;
      const entry = shown.get(item.uuid) ?? { dueAt: clock.monotonic() + INTERVAL, seen: null, facts: null };
      shown.set(item.uuid, entry);
      if (entry.seen === state) continue;
      const dueAt = Math.max(entry.dueAt, quietUntil);
      if (dueAt > clock.monotonic()) {
        next = Math.min(next ?? dueAt, dueAt);
        continue;
      }
      entry.seen = state;
      entry.dueAt = clock.monotonic() + INTERVAL;
      const forecasts = await forecastsNow(state, context, log);
      await acting.inLane(item, () => tryToShow(item.uuid, entry, forecasts, acting));
    }
    for (const uuid of shown.keys()) if (!state.items.has(uuid)) shown.delete(uuid);
    return next;
  }

  return {
    observe(next, current) {
      state = next;
      context = current;
      if (next.items.size > 0 && reporters().length > 0) dirty.set();
    },
    async run(acting, signal) {
      while (!signal.aborted) {
        const dueAt = await pass({ ...acting, signal });
        await pause(SPACING, signal);
        const ms = dueAt === undefined ? undefined : Math.min(LONGEST_NAP, dueAt - clock.monotonic());
        await untilDirty(dirty, ms, signal);
      }
    },
  };
}

/** None where they cannot be made. */
async function forecastsNow(
  state: PipelineState,
  context: ProgressContext | undefined,
  log: LiveProgressDeps['log'],
): Promise<Forecasts> {
  try {
    return (await context?.forecasts.of(state, context.pipeline)) ?? new Map();
  } catch (error) {
    log.warn({ err: error }, 'there are no forecasts to show');
    return new Map();
  }
}

/** Those of the pipeline's `start` whose hosts have a place for it. */
function showingReporters(
  { pipeline }: ProgressContext,
  connections: LiveProgressDeps['connections'],
): readonly (DriverConfig & { readonly reporter: Reporter })[] {
  return pipeline.reporters.start.flatMap(config => {
    const { reporter } = connections.get(config.connection) ?? {};
    return reporter?.progress === undefined ? [] : [{ ...config, reporter }];
  });
}

/** Its result is not decided. */
function isOnItsWay({ phase, role, buildset }: QueueItem): boolean {
  return phase.phase === 'queued' && role === 'live' && buildset.stage.state !== 'complete';
}

/** Where the start of the item was written; none when its result is decided. */
function placesOf(item: QueueItem, reporters: ReturnType<typeof showingReporters>): readonly ShownPlace[] {
  if (!isOnItsWay(item)) return [];
  return item.changes.flatMap(change =>
    reporters.flatMap(({ connection, config, reporter }) => {
      const earlier = earlierReports(item.reports, { connection, change: change.key });
      return earlier?.kind === 'remembered' ? [{ connection, reporter, config, change, earlier }] : [];
    }),
  );
}
