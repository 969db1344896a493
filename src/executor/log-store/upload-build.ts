/**
 * Stores what a build left in a bucket, the mark last. Each step may be repeated, and is after a crash: the same files get the same
 * names.
 */
import { stat } from 'node:fs/promises';
import { inParallel } from '../../lib/parallel.ts';
import { completeMarkOf, logPathOf } from '../log-file.ts';
import { keptFileOf, readKeptFiles } from './kept-files.ts';
import { buildKeys, dayKey, type LogBucket } from './log-bucket.ts';
import { packedLogOf } from './packed-log.ts';
import { readLogIndex } from './read-log.ts';

/** Files that are sent at a time. */
const AT_ONCE = 4;

/** @param build its log is complete and packed. @throws Error of the file system, or of the bucket. */
export async function uploadBuild(
  logDir: string,
  build: string,
  bucket: LogBucket,
  signal: AbortSignal,
): Promise<void> {
  const index = await readLogIndex(logDir, build);
  if (index === undefined) throw new Error('the log is not packed');
  const { mtime } = await stat(completeMarkOf(logPathOf(logDir, build)));
  const keys = buildKeys(build);
  await bucket.put(dayKey(mtime.toISOString().slice(0, 10), build), { kind: 'json', text: '{}' }, signal);
  const kept = await readKeptFiles(logDir, build);
  const contents = [...new Set(kept?.files.map(({ sha256 }) => sha256))];
  const files = [
    { key: keys.log, path: packedLogOf(logDir, build) },
    ...contents.map(sha256 => ({ key: keys.file(sha256), path: keptFileOf(logDir, build, sha256) })),
  ];
  await inParallel(files, AT_ONCE, ({ key, path }) => bucket.put(key, { kind: 'file', path }, signal));
  if (kept !== undefined) await bucket.put(keys.list, { kind: 'json', text: JSON.stringify(kept) }, signal);
  await bucket.put(keys.mark, { kind: 'json', text: JSON.stringify(index) }, signal);
}
