/** What a check run should say for a report. Pure. */
import { laterOf, type Nanoseconds, toMilliseconds } from '../../../src/lib/clock.ts';
import type { Report } from '../../../src/model/report.ts';
import type { CheckAnnotation } from './annotations.ts';
import { checkNameOf, externalIdOf, isBeginning } from './report-key.ts';
import { reportSummary, reportTitle } from './report-summary.ts';

/** As GitHub takes it, but for the annotations, which go in calls of their own size. */
export interface WantedRun {
  readonly name: string;
  readonly external_id: string;
  readonly details_url: string;
  readonly status: 'in_progress' | 'completed';
  readonly conclusion?: CheckConclusion;
  readonly started_at?: string;
  readonly completed_at?: string;
  readonly output: { readonly title: string; readonly summary: string };
  readonly actions: { label: string; description: string; identifier: string }[];
}

const CONCLUSIONS = [
  'success',
  'failure',
  'cancelled',
  'neutral',
  'skipped',
  'timed_out',
  'action_required',
] as const;
type CheckConclusion = (typeof CONCLUSIONS)[number];

/** GitHub takes 20 characters for label and identifier, 40 for the description. */
const DEQUEUE = {
  label: 'Dequeue',
  description: 'Take this change out of the pipeline',
  identifier: 'dequeue',
};

/** @param word of the pipeline, e.g. `in_progress`, `success`. @param leftOut see annotations.ts. */
export function wantedRun(report: Report, word: string, leftOut: readonly string[] = []): WantedRun {
  const conclusion = CONCLUSIONS.find(each => each === word);
  const common = {
    name: checkNameOf(report),
    external_id: externalIdOf(report),
    details_url: report.urls.item,
    output: { title: reportTitle(report), summary: reportSummary(report, leftOut) },
  };
  if (conclusion === undefined)
    return { ...common, status: 'in_progress', actions: report.item === null ? [] : [DEQUEUE] };
  const { started, ended } = timesOf(report);
  return {
    ...common,
    status: 'completed',
    conclusion,
    ...(started === undefined ? {} : { started_at: dateOf(started) }),
    ...(ended === undefined ? {} : { completed_at: dateOf(ended) }),
    actions: [],
  };
}

/** What GitHub holds of a run of ours, as far as it is compared. */
export interface KnownRun {
  readonly id: number;
  readonly status: string;
  readonly conclusion: string | null;
  readonly title: string | null;
  readonly summary: string | null;
  readonly annotations: number;
}

/** Whether the run says all of it already, annotations aside. */
export function saysAll(run: KnownRun, { status, conclusion, output }: WantedRun): boolean {
  return (
    run.status === status &&
    run.conclusion === (conclusion ?? null) &&
    run.title === output.title &&
    run.summary === output.summary
  );
}

/** A beginning that comes late, after the end or another beginning of the same item, changes nothing. */
export function isLateBeginning(report: Report, run: KnownRun | undefined): boolean {
  return run !== undefined && isBeginning(report);
}

/** First start and last end of the builds; undefined: none ran. */
function timesOf({ jobs }: Report): { readonly started?: Nanoseconds; readonly ended?: Nanoseconds } {
  const starts = jobs.flatMap(({ startedAt }) => (startedAt === null ? [] : [startedAt]));
  const ends = jobs.flatMap(({ endedAt }) => (endedAt === null ? [] : [endedAt]));
  const [first, ...others] = starts;
  const [end, ...ended] = ends;
  if (first === undefined || end === undefined) return {};
  return {
    started: others.reduce((a, b) => (laterOf(a, b) === a ? b : a), first),
    ended: ended.reduce(laterOf, end),
  };
}

function dateOf(time: Nanoseconds): string {
  return new Date(toMilliseconds(time)).toISOString();
}

/** With annotations added to `output`. */
export function withAnnotations(
  run: WantedRun,
  annotations: readonly CheckAnnotation[],
): Omit<WantedRun, 'output'> & { output: WantedRun['output'] & { annotations: CheckAnnotation[] } } {
  return { ...run, output: { ...run.output, annotations: [...annotations] } };
}
