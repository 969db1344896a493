/**
 * How long jobs will probably run: the mean of their last successes, from memory. Used only to decide whether a job has a trace of
 * its own.
 *
 * A scheduler learns from the builds that end in its pipelines. Where its process has the history open, it also reads the durations
 * of other schedulers' builds, and of builds before its start, now and then in the background.
 */
import type { Log } from '../../lib/log.ts';
import { pause } from '../../lib/pause.ts';
import type { JobName, ProjectKey, TenantName } from '../../model/project.ts';

/** A job of one project. */
export interface KnownJob {
  readonly tenant: TenantName;
  readonly project: ProjectKey;
  readonly job: JobName;
}

/** What the history, or a turn that saw a success, says of a job. */
export interface RecordedDuration extends KnownJob {
  /** Mean of its last successes, in milliseconds. */
  readonly ms: number;
}

/** One for each scheduler; a guess that is wrong costs only the shape of a trace. */
export interface ExpectedDurations {
  /** Milliseconds; undefined: the job is unknown. */
  of(job: KnownJob): number | undefined;
  /** Adds a success. */
  learn(job: KnownJob, ms: number): void;
  /** Replaces the values of the last read of the history. */
  read(recorded: readonly RecordedDuration[]): void;
}

/** Successes the mean is taken of. */
const SAMPLES = 10;
/** Jobs remembered; the least recently used are forgotten. */
const MAX_JOBS = 10_000;
/** Milliseconds between two reads of the history. */
const READ_INTERVAL = 600_000;

interface Known {
  /** Stands for the successes that were not seen. */
  recorded?: number;
  /** Newest last, at most {@link SAMPLES}. */
  readonly seen: number[];
}

/** Knows no job at first. */
export function createExpectedDurations(): ExpectedDurations {
  const jobs = new Map<string, Known>();

  function entry(key: string): Known {
    const known = jobs.get(key) ?? { seen: [] };
    jobs.delete(key);
    jobs.set(key, known);
    const [oldest] = jobs.size > MAX_JOBS ? jobs.keys() : [];
    if (oldest !== undefined) jobs.delete(oldest);
    return known;
  }

  return {
    of(job) {
      const known = jobs.get(keyOf(job));
      return known === undefined ? undefined : meanOf(known);
    },
    learn(job, ms) {
      const { seen } = entry(keyOf(job));
      seen.push(ms);
      if (seen.length > SAMPLES) seen.shift();
    },
    read(recorded) {
      for (const each of recorded) entry(keyOf(each)).recorded = each.ms;
    },
  };
}

/** Reads the history regularly until aborted; while the database is away the known durations stay. */
export async function followHistory(
  expected: ExpectedDurations,
  recorded: () => Promise<readonly RecordedDuration[]>,
  log: Log,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    try {
      expected.read(await recorded());
    } catch (error) {
      if (!signal.aborted)
        log.warn({ err: error }, 'job durations could not be read from the history; retrying later');
    }
    await pause(READ_INTERVAL, signal);
  }
}

function keyOf({ tenant, project, job }: KnownJob): string {
  return JSON.stringify([tenant, project, job]);
}

function meanOf({ recorded, seen }: Known): number | undefined {
  const samples =
    recorded === undefined
      ? seen
      : [...seen, ...new Array<number>(Math.max(0, SAMPLES - seen.length)).fill(recorded)];
  return samples.length === 0 ? undefined : samples.reduce((sum, ms) => sum + ms, 0) / samples.length;
}
