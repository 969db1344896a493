/**
 * Removes from a bucket the builds that ended longer ago than `[executor] keep_logs`, day by day, the mark of each first. Any number of
 * executors may do it at a time, and one that dies leaves nothing behind that the next one does not find.
 */
import type { Log } from '../../lib/log.ts';
import { inParallel } from '../../lib/parallel.ts';
import { pause } from '../../lib/pause.ts';
import { buildKeys, DAYS, dayKey, type LogBucket } from './log-bucket.ts';

/** Milliseconds between two runs. */
const INTERVAL = 3_600_000;
const DAY = 86_400_000;
/** Objects that are removed at a time. */
const AT_ONCE = 4;

/** Settings, and what reports each removal. */
export interface PruneBucketDeps {
  readonly bucket: LogBucket;
  /** Seconds; undefined: for ever. */
  readonly keep: number | undefined;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  readonly log: Pick<Log, 'info' | 'warn'>;
  /** Called after each removal, for metrics. */
  onPruned(logs: number): void;
}

/** Returns when aborted. */
export async function pruneBucket(deps: PruneBucketDeps, signal: AbortSignal): Promise<void> {
  const { keep, log, bucket, now } = deps;
  if (keep === undefined) return;
  while (!signal.aborted) {
    try {
      const pruned = await pruneBefore(now() - keep * 1000, deps, signal);
      if (pruned > 0)
        log.info({ pruned }, `${pruned} logs of builds were removed from ${bucket.place} for their age`);
    } catch (error) {
      if (!signal.aborted)
        log.warn({ err: error }, `old logs could not be removed from ${bucket.place}; trying again later`);
    }
    await pause(INTERVAL, signal);
  }
}

async function pruneBefore(
  before: number,
  { bucket, onPruned }: PruneBucketDeps,
  signal: AbortSignal,
): Promise<number> {
  let pruned = 0;
  for (const day of await bucket.folders(DAYS, signal)) {
    const end = Date.parse(day) + DAY;
    // Also names that are no days.
    if (!(end <= before)) continue;
    for await (const build of untilNone(() => bucket.list(dayKey(day, ''), signal))) {
      await removeBuild(bucket, day, build.slice(dayKey(day, '').length), signal);
      pruned += 1;
      onPruned(1);
    }
  }
  return pruned;
}

async function removeBuild(
  bucket: LogBucket,
  day: string,
  build: string,
  signal: AbortSignal,
): Promise<void> {
  const keys = buildKeys(build);
  await bucket.remove(keys.mark, signal);
  for (let before = ''; ; ) {
    const rest = await bucket.list(keys.all, signal);
    if (rest.length === 0) break;
    before = changed(before, rest);
    await inParallel(rest, AT_ONCE, key => bucket.remove(key, signal));
  }
  await bucket.remove(dayKey(day, build), signal);
}

/** What is listed again and again, while those who take it remove it. */
async function* untilNone(list: () => Promise<readonly string[]>): AsyncGenerator<string> {
  for (let before = ''; ; ) {
    const keys = await list();
    if (keys.length === 0) return;
    before = changed(before, keys);
    yield* keys;
  }
}

/** @throws Error when a bucket removes nothing and does not say so: the loop would not end. */
function changed(before: string, [first = '']: readonly string[]): string {
  if (first === before) throw new Error(`${first} is still there after it was removed`);
  return first;
}
