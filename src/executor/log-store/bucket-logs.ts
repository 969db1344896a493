/** Logs and files of builds from a bucket, for webs. A build whose mark is not there has none. */
import type { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { parseUuid } from '../../lib/ids.ts';
import type { KeptFiles } from '../../model/kept-files.ts';
import type { LogPart } from '../log-file.ts';
import { parseKeptFiles } from './kept-files.ts';
import { buildKeys, type LogBucket } from './log-bucket.ts';
import { type LogIndex, parseLogIndex, readPacked } from './packed-log.ts';

/** All throw RangeError for anything but a uuid, and what the bucket throws. Undefined: the bucket does not have it (yet). */
export interface BucketLogs {
  /** What is known without asking the bucket. */
  isKnown(build: string): boolean;
  readLog(build: string, offset: number, limit: number, signal: AbortSignal): Promise<LogPart | undefined>;
  /** Compressed by gzip, as the next. */
  openLog(build: string, signal: AbortSignal): Promise<Readable | undefined>;
  openFile(build: string, sha256: string, signal: AbortSignal): Promise<Readable | undefined>;
  files(build: string, signal: AbortSignal): Promise<KeptFiles | undefined>;
}

/** Indexes that are kept; that of the longest log has forty kilobytes. */
const KNOWN = 200;
/** Milliseconds for which a build that has no mark is not looked for again. */
const ABSENT_MS = 5_000;

interface Known {
  /** Undefined: it has no mark. */
  readonly index: LogIndex | undefined;
  readonly askedAt: number;
}

/** @param now milliseconds of a clock that never goes back. */
export function bucketLogs(bucket: LogBucket, now: () => number = () => performance.now()): BucketLogs {
  const known = new Map<string, Known>();

  async function indexOf(build: string, signal: AbortSignal): Promise<LogIndex | undefined> {
    const before = known.get(build);
    const isFresh =
      before !== undefined && (before.index !== undefined || now() - before.askedAt < ABSENT_MS);
    const index = isFresh ? before.index : await fetchIndex(build, signal);
    known.delete(build);
    known.set(build, isFresh ? before : { index, askedAt: now() });
    for (const oldest of known.keys()) {
      if (known.size <= KNOWN) break;
      known.delete(oldest);
    }
    return index;
  }

  async function fetchIndex(build: string, signal: AbortSignal): Promise<LogIndex | undefined> {
    const mark = await bucket.get(buildKeys(parseUuid(build)).mark, undefined, signal);
    return mark === undefined ? undefined : parseLogIndex(JSON.parse(String(await buffer(mark))));
  }

  /**
   * What lies beside the mark. Where it is not there the mark is asked for again: the build may have been removed for its age since it was read.
   *
   * @param read undefined: an object is not there.
   * @param otherwise the answer where the build is marked and the object is not there all the same.
   */
  async function besideMark<T>(
    build: string,
    signal: AbortSignal,
    read: (index: LogIndex) => Promise<T | undefined>,
    otherwise: () => T | undefined,
  ): Promise<T | undefined> {
    const index = await indexOf(build, signal);
    if (index === undefined) return undefined;
    const found = await read(index);
    if (found !== undefined) return found;
    known.delete(build);
    return (await indexOf(build, signal)) === undefined ? undefined : otherwise();
  }

  const withoutLog = (build: string) => (): never => {
    throw new Error(`the log of build ${build} is gone from ${bucket.place}`);
  };

  return {
    isKnown: build => known.get(build)?.index !== undefined,
    readLog: (build, offset, limit, signal) =>
      besideMark(
        build,
        signal,
        index =>
          readPacked(index, { offset, limit }, async range => {
            const part = await bucket.get(buildKeys(build).log, range, signal);
            if (part === undefined) throw new ObjectMissing();
            return buffer(part);
          }).catch(asMissing),
        withoutLog(build),
      ),
    openLog: (build, signal) =>
      besideMark(build, signal, () => bucket.get(buildKeys(build).log, undefined, signal), withoutLog(build)),
    openFile: (build, sha256, signal) =>
      besideMark(
        build,
        signal,
        () => bucket.get(buildKeys(build).file(sha256), undefined, signal),
        () => undefined,
      ),
    files: (build, signal) =>
      besideMark<KeptFiles>(
        build,
        signal,
        async () => {
          const list = await bucket.get(buildKeys(build).list, undefined, signal);
          return list === undefined ? undefined : parseKeptFiles(String(await buffer(list)));
        },
        // It left none.
        () => ({ files: [] }),
      ),
  };
}

class ObjectMissing extends Error {}

function asMissing(error: unknown): undefined {
  if (error instanceof ObjectMissing) return undefined;
  throw error;
}
