/** Progress and result texts of `gatehouse trace export`. */
import { toMilliseconds } from '../../lib/clock.ts';
import { stripUserinfo } from '../../lib/redact.ts';
import { type BackFillOutcome, type BackFillProgress, PATIENCE_MS } from '../back-fill.ts';
import { type Io, print } from '../terminal/io.ts';
import { complain } from './session.ts';

const INTERRUPTED = 130;
/** Items are recorded almost in the order they left; resuming a little earlier repeats some and misses none. */
const RESUME_MARGIN_MS = 60_000;

/** What the result text needs besides the counts of the run. */
export interface ExportEnd {
  /** False: a dry run. */
  readonly sent: boolean;
  readonly endpoint: string;
  /** Spans that will never arrive, by reason. */
  readonly lost: readonly (readonly [reason: string, spans: number])[];
}

/** @returns the exit status. */
export function printEnd(io: Io, outcome: BackFillOutcome, { sent, endpoint, lost }: ExportEnd): number {
  const { kind, unsampled, problem } = outcome;
  const verb = sent ? `sent to ${stripUserinfo(endpoint)}` : 'would be sent';
  print(io, `${countText(outcome)} ${verb}`);
  if (unsampled > 0) print(io, `${plural(unsampled, 'item')} left out by sampling; --all includes them`);
  const losses = lost.map(([reason, spans]) => `${plural(spans, 'span')} (${reason})`);
  if (losses.length > 0) complain(io, `the collector rejected ${losses.join(', ')}`);
  if (kind === 'gave-up')
    complain(
      io,
      `the collector has accepted nothing for ${PATIENCE_MS / 60_000} minutes: ${problem ?? 'it does not answer'}`,
    );
  if (kind !== 'done') io.stderr.write(`${resumeText(outcome)}\n`);
  if (kind === 'interrupted') return INTERRUPTED;
  return kind === 'done' && losses.length === 0 ? 0 : 1;
}

function resumeText({ upTo }: BackFillProgress): string {
  if (upTo === null) return 'No item was delivered completely: run the same command again.';
  const from = new Date(toMilliseconds(upTo) - RESUME_MARGIN_MS).toISOString();
  return `Resume with --since ${from}: items that left earlier have arrived.`;
}

/** One line, drawn again after each delivery. */
export function progressText(progress: BackFillProgress): string {
  const { upTo, problem } = progress;
  const place = upTo === null ? '' : `, up to ${new Date(toMilliseconds(upTo)).toISOString()}`;
  const trouble = problem === null ? '' : `  the collector rejects spans, trying again: ${problem}`;
  return `${countText(progress)}${place}${trouble}`;
}

function countText({ items, spans, traces }: BackFillProgress): string {
  const others = traces === 0 ? '' : ` and ${plural(traces, 'other trace')}`;
  return `${plural(spans, 'span')} of ${plural(items, 'item')}${others}`;
}

function plural(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`;
}
