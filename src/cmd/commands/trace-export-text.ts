/** What `gatehouse trace export` says on the way and at the end. */
import { toMilliseconds } from '../../lib/clock.ts';
import { stripUserinfo } from '../../lib/redact.ts';
import { type BackFillOutcome, type BackFillProgress, PATIENCE_MS } from '../back-fill.ts';
import { type Io, print } from '../terminal/io.ts';
import { complain } from './session.ts';

const INTERRUPTED = 130;
/** Items are recorded in the order of leaving but for moments; beginning a little earlier repeats some and misses none. */
const RESUME_MARGIN_MS = 60_000;

export interface ExportEnd {
  /** False: it was only counted. */
  readonly sent: boolean;
  readonly endpoint: string;
  /** Spans that will never arrive, by reason. */
  readonly lost: readonly (readonly [reason: string, spans: number])[];
}

/** @returns the exit status. */
export function tellEnd(io: Io, outcome: BackFillOutcome, { sent, endpoint, lost }: ExportEnd): number {
  const { kind, unsampled, problem } = outcome;
  const verb = sent ? `sent to ${stripUserinfo(endpoint)}` : 'would be sent';
  print(io, `${countText(outcome)} ${verb}`);
  if (unsampled > 0) print(io, `${plural(unsampled, 'item')} left out by sampling; --all has them, too`);
  const losses = lost.map(([reason, spans]) => `${plural(spans, 'span')} (${reason})`);
  if (losses.length > 0) complain(io, `the collector refused ${losses.join(', ')}`);
  if (kind === 'gave-up')
    complain(
      io,
      `the collector has taken nothing for ${PATIENCE_MS / 60_000} minutes: ${problem ?? 'it does not answer'}`,
    );
  if (kind !== 'done') io.stderr.write(`${resumeText(outcome)}\n`);
  if (kind === 'interrupted') return INTERRUPTED;
  return kind === 'done' && losses.length === 0 ? 0 : 1;
}

function resumeText({ upTo }: BackFillProgress): string {
  if (upTo === null) return 'Nothing arrived whole: begin again with the same command.';
  const from = new Date(toMilliseconds(upTo) - RESUME_MARGIN_MS).toISOString();
  return `Go on with --since ${from}: what left before has arrived.`;
}

export function progressText(progress: BackFillProgress): string {
  const { upTo, problem } = progress;
  const place = upTo === null ? '' : `, up to ${new Date(toMilliseconds(upTo)).toISOString()}`;
  const trouble = problem === null ? '' : `  the collector does not take spans, trying again: ${problem}`;
  return `${countText(progress)}${place}${trouble}`;
}

function countText({ items, spans, traces }: BackFillProgress): string {
  const others = traces === 0 ? '' : ` and ${plural(traces, 'other trace')}`;
  return `${plural(spans, 'span')} of ${plural(items, 'item')}${others}`;
}

function plural(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`;
}
