/** Keeps the event stream open: after each end it is opened again, with growing pauses. */
import { backoffDelay } from '../../../src/lib/backoff.ts';
import { readEventStream, type StreamEnd } from '../intake/stream.ts';
import { fileOfThisMachine, type SshPlace, sshPlace } from '../ssh/ssh-place.ts';
import type { Announced } from './announced.ts';
import type { GerritListenerDeps, Listening } from './listening.ts';

/** Milliseconds. A stream that lasted so long was a good one: the pauses begin anew. */
const GOOD = 30_000;
const RECONNECT = { firstMs: 1_000, maxMs: 60_000 };
/** Lines of each connection that are logged as left out. */
const MOST_WARNINGS = 3;

/** Of the lines of one connection, bounded. */
interface Warnings {
  warn(facts: object, text: string): void;
  reset(): void;
}

export function lineWarnings({ log }: Pick<GerritListenerDeps, 'log'>): Warnings {
  let count = 0;
  return {
    warn(facts, text) {
      count += 1;
      if (count <= MOST_WARNINGS) log.warn(facts, text);
    },
    reset() {
      count = 0;
    },
  };
}

/** Undefined: the connection has no stream. */
export function streamPlace(options: GerritListenerDeps['options']): SshPlace | undefined {
  return options.streams ? sshPlace(options) : undefined;
}

/** Ends with the signal. */
export async function keepStream(
  place: SshPlace,
  announced: Announced,
  warnings: Warnings,
  listening: Listening,
): Promise<void> {
  const { signal, deps } = listening;
  let attempt = 0;
  let complaint = '';
  while (!signal.aborted) {
    warnings.reset();
    const { end, lasted } = await readOnce(place, announced, warnings, listening);
    if (signal.aborted) return;
    if (lasted !== null && lasted >= GOOD) {
      attempt = 0;
      complaint = '';
    }
    attempt += 1;
    if (end.text !== complaint) deps.log.warn({ attempt }, `no event stream of Gerrit: ${end.text}`);
    complaint = end.text;
    const isFinal = end.kind === 'refused';
    await deps.wait(isFinal ? RECONNECT.maxMs : backoffDelay(RECONNECT, attempt, deps.random()), signal);
  }
}

/** @returns `lasted`: milliseconds that it was open; null: it was not. */
async function readOnce(
  place: SshPlace,
  announced: Announced,
  warnings: Warnings,
  listening: Listening,
): Promise<{ readonly end: StreamEnd; readonly lasted: number | null }> {
  const { signal, deps } = listening;
  const { clock } = deps;
  let openedAt: number | null = null;
  let notedAt = Number.NEGATIVE_INFINITY;
  const watcher = {
    opened() {
      openedAt = clock.monotonic();
      listening.gap = true;
      listening.note({ connected: true, since: clock.now(), text: null, isRefused: false });
      listening.wake();
    },
    async line(text: string) {
      if (clock.monotonic() - notedAt >= 1_000) {
        notedAt = clock.monotonic();
        listening.note({ lastLineAt: clock.now() });
      }
      await announced.line(text);
    },
    tooLong: (count: number) =>
      warnings.warn({ count }, 'a line of the event stream is too long: it is left out'),
  };
  announced.forget();
  const failed = announced.failed();
  const either = AbortSignal.any([signal, failed]);
  let end = await readEventStream(place, watcher, deps.readFile ?? fileOfThisMachine, either);
  // What this event and those behind it announced is looked up after the next opening.
  if (failed.aborted)
    end = { kind: 'closed', text: `an event could not be stored: ${String(failed.reason)}` };
  await announced.settled();
  const { connected, gaps } = listening.state();
  listening.note({
    text: end.text,
    isRefused: end.kind === 'refused',
    ...(connected ? { connected: false, since: clock.now() } : {}),
    gaps: gaps + (connected && end.kind === 'closed' ? 1 : 0),
  });
  return { end, lasted: openedAt === null ? null : clock.monotonic() - openedAt };
}
