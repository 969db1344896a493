/** Asks the hosts to show where an item is, one place after the other, each call with a trace of its own. */
import type { HostLater } from '../../driver/host-later.ts';
import { hostSteps, hostStepsOfError } from '../../driver/host-steps.ts';
import type { Reporter, ReporterOutcome, ReportRequest } from '../../driver/reporter.ts';
import type { Clock, Nanoseconds } from '../../lib/clock.ts';
import type { IdMaker } from '../../lib/ids.ts';
import type { Log } from '../../lib/log.ts';
import type { Change } from '../../model/change.ts';
import type { EarlierReports } from '../../model/earlier-reports.ts';
import type { ConnectionName } from '../../model/project.ts';
import type { QueueItem } from '../../model/queue-item.ts';
import type { Report } from '../../model/report.ts';
import type { Operation } from '../../store/port.ts';
import { itemLogFacts } from '../../tracing/log-facts.ts';
import { hostProgressSpans } from '../../tracing/spans/host-progress-spans.ts';
import type { SpanOptions } from '../../tracing/spans/span-options.ts';
import { type TracePlaces, traceRows } from '../care/trace-rows.ts';

/** One place at a host where an item is shown. */
export interface ShownPlace extends Pick<ReportRequest, 'config' | 'change'> {
  readonly connection: ConnectionName;
  readonly reporter: Reporter;
  readonly earlier: EarlierReports;
}

/** For the traces of the calls. */
export interface ShowDeps {
  readonly clock: Clock;
  readonly ids: IdMaker;
  readonly paths: TracePlaces;
  readonly log: Log;
}

interface Showing {
  readonly item: QueueItem;
  readonly report: Report;
  /** Undefined: tracing is off. */
  readonly options: SpanOptions | undefined;
}

interface ShowActing {
  /** The layout in force lets us write about the change. */
  readonly mayShow: (change: Change) => Promise<boolean>;
  readonly mayAct: () => boolean;
  readonly commit: (operations: readonly Operation[]) => Promise<unknown>;
  readonly signal: AbortSignal;
}

/** Milliseconds. The item's result waits for a call that is under way. */
const LONGEST_CALL = 10_000;

/** @returns why one host does not take it now; the places behind it are not asked. @throws as drivers do. */
export async function showAt(
  places: readonly ShownPlace[],
  showing: Showing,
  deps: ShowDeps,
  acting: ShowActing,
): Promise<Pick<HostLater, 'text' | 'notBefore'> | undefined> {
  const within = AbortSignal.any([acting.signal, AbortSignal.timeout(LONGEST_CALL)]);
  const { report } = showing;
  for (const place of places) {
    const { reporter, config, change, earlier } = place;
    const startedAt = deps.clock.now();
    const trace = (outcome: Pick<ReporterOutcome, 'kind' | 'steps'>) =>
      writeTrace(place, showing, startedAt, outcome, deps, acting);
    if (!(await acting.mayShow(change))) continue;
    try {
      const outcome = await reporter.progress?.({ config, change, earlier, report }, within, acting.mayAct);
      if (outcome === undefined) continue;
      await trace(outcome);
      if (outcome.kind === 'later') return outcome;
    } catch (error) {
      if (!acting.signal.aborted) await trace({ kind: 'later', steps: hostStepsOfError(error) });
      throw error;
    }
  }
  return undefined;
}

/** Of one call. A lost trace costs nothing else. */
async function writeTrace(
  { connection, change }: ShownPlace,
  { item, options }: Showing,
  startedAt: Nanoseconds,
  { kind, steps }: Pick<ReporterOutcome, 'kind' | 'steps'>,
  { clock, ids, paths, log }: ShowDeps,
  { commit, signal }: ShowActing,
): Promise<void> {
  if (options === undefined) return;
  const endedAt = clock.now();
  const facts = {
    ...{ shown: ids.uuid(), connection, item, change, startedAt, endedAt },
    outcome: kind === 'later' ? ('host' as const) : kind,
    steps: steps === undefined ? undefined : hostSteps(steps),
  };
  const rows = traceRows(paths, hostProgressSpans(facts, options), endedAt);
  if (rows.length === 0) return;
  try {
    await commit(rows);
  } catch (error) {
    if (!signal.aborted)
      log.warn({ ...itemLogFacts(item.uuid), err: error }, 'the trace of where an item is is lost');
  }
}
