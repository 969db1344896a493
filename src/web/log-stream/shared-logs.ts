/**
 * Logs of builds for any number of readers at a time: what one of them reads, all have. A log only grows, so it is read in chunks that are
 * kept; of the last one what came since is read again, at most every {@link FRESH_MS}, by the first that asks. So a hundred people who
 * follow a build cost its executor one reader, whenever they came.
 *
 *     const logs = sharedLogs({ readLog, clock });
 *     const piece = await logs.read({ build, worker, offset: 0, limit: 65_536 });      // as readLog
 */
import type { Clock } from '../../lib/clock.ts';
import type { LogPiece, LogQuestion, WebDeps } from '../deps.ts';

/** In place of {@link WebDeps.readLog}. */
export interface SharedLogs {
  /** Access rules are the caller's to apply. @returns undefined: there is no log (yet). */
  read(question: LogQuestion): Promise<LogPiece | undefined>;
}

/** One read of an executor; also the length of a chunk. */
const CHUNK = 262_144;
/** Milliseconds for which the end of a growing log counts as its end. */
const FRESH_MS = 200;
/** Of all logs, in memory. */
const KEPT_BYTES = 32 * 1024 * 1024;
/** What a chunk costs besides its bytes. */
const ENTRY_BYTES = 500;

/** A part of a log that begins at a multiple of {@link CHUNK}. */
interface Chunk {
  /** Undefined: there is no log. */
  readonly bytes: Buffer | undefined;
  /** The log ends with it. */
  readonly complete: boolean;
  /** Milliseconds of the monotonic clock, when it was read. */
  readonly readAt: number;
}

/** @param keptBytes default 32 MiB. */
export function sharedLogs(
  deps: Pick<WebDeps, 'readLog'> & { readonly clock: Pick<Clock, 'monotonic'> },
  keptBytes: number = KEPT_BYTES,
): SharedLogs {
  return new Logs(deps, keptBytes);
}

class Logs implements SharedLogs {
  readonly #deps: Pick<WebDeps, 'readLog'> & { readonly clock: Pick<Clock, 'monotonic'> };
  readonly #most: number;
  /** By build and place; the least recently used first. */
  readonly #chunks = new Map<string, Chunk>();
  readonly #underway = new Map<string, Promise<Chunk>>();
  #kept = 0;

  constructor(deps: Pick<WebDeps, 'readLog'> & { readonly clock: Pick<Clock, 'monotonic'> }, most: number) {
    this.#deps = deps;
    this.#most = most;
  }

  async read({ build, worker, offset, limit }: LogQuestion): Promise<LogPiece | undefined> {
    const parts: Buffer[] = [];
    let at = offset;
    let complete = false;
    while (at < offset + limit) {
      const place = Math.floor(at / CHUNK);
      const chunk = await this.#chunk(build, worker, place);
      if (chunk.bytes === undefined) {
        if (parts.length === 0) return undefined;
        break;
      }
      const from = at - place * CHUNK;
      const part = chunk.bytes.subarray(from, from + offset + limit - at);
      parts.push(part);
      at += part.length;
      complete = chunk.complete && at >= place * CHUNK + chunk.bytes.length;
      if (chunk.bytes.length < CHUNK || complete) break;
    }
    const [first = Buffer.alloc(0), ...others] = parts;
    return { bytes: others.length === 0 ? first : Buffer.concat(parts), complete };
  }

  async #chunk(build: string, worker: string | null, place: number): Promise<Chunk> {
    const key = `${build} ${place}`;
    const known = this.#chunks.get(key);
    if (known !== undefined && this.#isFresh(known)) {
      this.#keep(key, known);
      return known;
    }
    const underway = this.#underway.get(key);
    if (underway !== undefined) return underway;
    const begun = this.#grow(known, { build, worker, place }).finally(() => this.#underway.delete(key));
    this.#underway.set(key, begun);
    const grown = await begun;
    this.#keep(key, grown);
    return grown;
  }

  #isFresh({ bytes, complete, readAt }: Chunk): boolean {
    if (bytes !== undefined && (complete || bytes.length >= CHUNK)) return true;
    return this.#deps.clock.monotonic() - readAt < FRESH_MS;
  }

  async #grow(
    known: Chunk | undefined,
    {
      build,
      worker,
      place,
    }: { readonly build: string; readonly worker: string | null; readonly place: number },
  ): Promise<Chunk> {
    const before = known?.bytes ?? Buffer.alloc(0);
    const offset = place * CHUNK + before.length;
    const piece = await this.#deps.readLog({ build, worker, offset, limit: CHUNK - before.length });
    const readAt = this.#deps.clock.monotonic();
    // What was read stays readable while its executor is away.
    if (piece === undefined) return { bytes: known?.bytes, complete: false, readAt };
    const bytes = piece.bytes.length === 0 ? before : Buffer.concat([before, piece.bytes]);
    return { bytes, complete: piece.complete, readAt };
  }

  /** As the most recently used one. */
  #keep(key: string, chunk: Chunk): void {
    const known = this.#chunks.get(key);
    if (known !== undefined) this.#kept -= costOf(known);
    this.#chunks.delete(key);
    this.#chunks.set(key, chunk);
    this.#kept += costOf(chunk);
    for (const [oldest, other] of this.#chunks) {
      if (this.#kept <= this.#most) return;
      this.#chunks.delete(oldest);
      this.#kept -= costOf(other);
    }
  }
}

function costOf({ bytes }: Chunk): number {
  return ENTRY_BYTES + (bytes?.length ?? 0);
}
