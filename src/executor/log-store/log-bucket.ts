/**
 * Where logs of builds outlive their executor, as the log store sees it: keys and contents. `s3-bucket.ts` is the real one.
 *
 *     <prefix>days/2026-11-29/<build>             empty, and first: what retention finds a build by, also one that was stored in part
 *     <prefix>builds/<build>/job-output.txt.gz    see packed-log.ts
 *     <prefix>builds/<build>/files/<sha256>.gz    see kept-files.ts
 *     <prefix>builds/<build>/files.json
 *     <prefix>builds/<build>/log.json             the index of the log, and last: nothing of a build is served without it
 */
import type { Readable } from 'node:stream';
import type { PackedRange } from './packed-log.ts';

/** Each object appears whole or not at all. All throw an Error that says what the bucket answered, or that it did not. */
export interface LogBucket extends Disposable {
  /** For people. */
  readonly place: string;
  put(key: string, content: BucketContent, signal: AbortSignal): Promise<void>;
  /** @param range default: all. @returns undefined: there is no such object. */
  get(key: string, range: PackedRange | undefined, signal: AbortSignal): Promise<Readable | undefined>;
  /** At most a thousand keys, in their order. */
  list(prefix: string, signal: AbortSignal): Promise<readonly string[]>;
  /** At most a thousand names between the prefix, which ends with `/`, and the next `/`, in their order. */
  folders(prefix: string, signal: AbortSignal): Promise<readonly string[]>;
  /** Also where there is no such object. */
  remove(key: string, signal: AbortSignal): Promise<void>;
}

/** Of one object. A file is sent as it is, and was compressed by gzip. */
export type BucketContent =
  | { readonly kind: 'json'; readonly text: string }
  | { readonly kind: 'file'; readonly path: string };

/** Of the days. */
export const DAYS = 'days/';

/** @param day `2026-11-29`. */
export function dayKey(day: string, build: string): string {
  return `${DAYS}${day}/${build}`;
}

/** Keys of one build. */
export function buildKeys(build: string): {
  readonly all: string;
  readonly log: string;
  readonly list: string;
  readonly mark: string;
  readonly file: (sha256: string) => string;
} {
  const all = `builds/${build}/`;
  return {
    all,
    log: `${all}job-output.txt.gz`,
    list: `${all}files.json`,
    mark: `${all}log.json`,
    file: sha256 => `${all}files/${sha256}.gz`,
  };
}
