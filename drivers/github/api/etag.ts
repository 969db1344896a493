/** Answers of earlier GETs, for conditional requests: GitHub answers 304 when nothing changed, which costs nothing of the limit. */
import { createLru } from '../../../src/git/support/lru.ts';

/** What is kept of an answer. `next`: as in `GithubAnswer`. */
interface CachedAnswer {
  readonly data: unknown;
  readonly next?: string;
}

/** An earlier answer. */
interface KnownAnswer {
  readonly etag: string;
  /** Fresh at every call: callers share nothing. */
  answer(): CachedAnswer;
}

/** Bounded: what was used longest ago is forgotten, and costs a whole answer next time. */
export interface EtagCache {
  get(key: string): KnownAnswer | undefined;
  /** @param etag undefined: GitHub gave none. */
  keep(key: string, etag: string | undefined, answer: CachedAnswer): void;
}

/** Characters of all answers together. */
const CAPACITY = 16_000_000;

export function createEtagCache(): EtagCache {
  const answers = createLru<string, { readonly etag: string; readonly text: string }>(
    CAPACITY,
    ({ etag, text }) => etag.length + text.length + 200,
  );
  return {
    get(key) {
      const known = answers.get(key);
      return known && { etag: known.etag, answer: () => JSON.parse(known.text) };
    },
    keep(key, etag, answer) {
      const text = etag === undefined ? undefined : textOf(answer);
      if (etag === undefined || text === undefined) answers.delete(key);
      else answers.set(key, { etag, text });
    },
  };
}

/** Undefined: the data holds an integer that JSON cannot (Octokit reads such as a bigint). */
function textOf(answer: CachedAnswer): string | undefined {
  try {
    return JSON.stringify({ data: answer.data, next: answer.next });
  } catch (error) {
    if (error instanceof TypeError) return undefined;
    throw error;
  }
}
