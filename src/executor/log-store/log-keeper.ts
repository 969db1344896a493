/**
 * What happens to logs once their builds have ended, behind the builds and one after the other: each is packed, and where there is a
 * bucket it is stored there and removed here.
 *
 *     using keeper = startLogKeeper({ logDir, bucket, log, … });
 *     keeper.add(build);                    // its log is complete
 *     await keeper.drained(300_000);        // before the machine goes
 *
 * What is to be done lies in the log directory alone, and is found there at the start: a process that dies loses nothing. A bucket that
 * fails is waited for; the logs stay here meanwhile, and are read from here.
 */
import { opendir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { backoffDelay } from '../../lib/backoff.ts';
import { isUuid } from '../../lib/ids.ts';
import type { Log } from '../../lib/log.ts';
import { pause } from '../../lib/pause.ts';
import { completeMarkOf, logPathOf } from '../log-file.ts';
import { BLOBS, readKeptFiles } from './kept-files.ts';
import type { LogBucket } from './log-bucket.ts';
import { packLog } from './pack-log.ts';
import { packedLogOf } from './packed-log.ts';
import { uploadBuild } from './upload-build.ts';

/** Bytes from which on it pays to pack a log that stays here. */
const WORTH_PACKING = 65_536;
const BACKOFF = { firstMs: 1_000, maxMs: 60_000 };
/** A log that stays here may as well stay as it is. */
const MOST_PACKINGS = 3;
/** Before a name: stored, and being removed. */
const STORED = '.stored-';

/** Where logs are and go. */
export interface LogKeeperDeps {
  readonly logDir: string;
  /** Undefined: logs stay here. */
  readonly bucket: LogBucket | undefined;
  readonly log: Pick<Log, 'info' | 'warn'>;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Called for each attempt to store the log of a build. */
  onStored(outcome: 'stored' | 'failed'): void;
  /** Milliseconds before attempt `n` after a failure. Default: up to a minute. */
  readonly backoff?: (attempt: number) => number;
}

/** Logs that are not in the bucket yet; none without one. */
interface WaitingLogs {
  readonly builds: number;
  /** Of those that have waited for an attempt to fail; files of jobs before they were compressed. */
  readonly bytes: number;
  /** Milliseconds since the first of them ended; 0: there is none. */
  readonly oldestMs: number;
}

/** Works until it is disposed of. */
export interface LogKeeper extends AsyncDisposable {
  /** The log of a build of this executor is complete. */
  add(build: string): void;
  waiting(): WaitingLogs;
  /** Resolves when nothing waits, or after so many milliseconds. @returns builds that still wait. */
  drained(limitMs: number): Promise<number>;
}

export function startLogKeeper(deps: LogKeeperDeps): LogKeeper {
  return new Keeper(deps);
}

interface Waiting {
  /** Undefined: not measured. */
  readonly bytes: number | undefined;
  readonly endedAt: number;
  readonly attempts: number;
}

class Keeper implements LogKeeper {
  readonly #deps: LogKeeperDeps;
  readonly #stop = new AbortController();
  /** By build, in their order. */
  readonly #waiting = new Map<string, Waiting>();
  readonly #running: Promise<void>;
  /** What earlier processes left was looked for. */
  readonly #lookedFor = Promise.withResolvers<void>();
  #wake = Promise.withResolvers<void>();
  #idle = Promise.withResolvers<void>();
  /** Of the last failures, one after the other. */
  #failures = 0;

  constructor(deps: LogKeeperDeps) {
    this.#deps = deps;
    this.#stop.signal.addEventListener('abort', () => this.#wake.resolve(), { once: true });
    this.#running = this.#run();
  }

  add(build: string): void {
    this.#waiting.set(build, { bytes: undefined, endedAt: this.#deps.now(), attempts: 0 });
    this.#wake.resolve();
  }

  waiting(): WaitingLogs {
    if (this.#deps.bucket === undefined) return { builds: 0, bytes: 0, oldestMs: 0 };
    const all = [...this.#waiting.values()];
    return {
      builds: all.length,
      bytes: all.reduce((sum, { bytes = 0 }) => sum + bytes, 0),
      oldestMs: Math.max(0, ...all.map(({ endedAt }) => this.#deps.now() - endedAt)),
    };
  }

  async drained(limitMs: number): Promise<number> {
    const enough = AbortSignal.any([this.#stop.signal, AbortSignal.timeout(limitMs)]);
    const idle = this.#lookedFor.promise.then(() =>
      this.#waiting.size === 0 ? undefined : this.#idle.promise,
    );
    await Promise.race([idle, pause(Number.POSITIVE_INFINITY, enough)]);
    return this.waiting().builds;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { signal } = this.#stop;
    try {
      await this.#findAll();
    } catch (error) {
      this.#deps.log.warn({ err: error }, 'logs of earlier builds could not be looked for');
    }
    this.#lookedFor.resolve();
    while (!signal.aborted) {
      const [next] = this.#waiting;
      if (next === undefined) {
        this.#idle.resolve();
        await this.#wake.promise;
        this.#wake = Promise.withResolvers();
        this.#idle = Promise.withResolvers();
      } else {
        await this.#attempt(...next);
      }
    }
  }

  /** What an earlier process did not come to do. */
  async #findAll(): Promise<void> {
    const { logDir, bucket } = this.#deps;
    for await (const { name } of await opendir(logDir)) {
      if (this.#stop.signal.aborted) return;
      if (name.startsWith(STORED)) await rm(join(logDir, name), { recursive: true, force: true });
      if (!isUuid(name) || this.#waiting.has(name)) continue;
      const path = logPathOf(logDir, name);
      const ended = await statOrNot(completeMarkOf(path));
      const isWanted = bucket !== undefined || ((await statOrNot(path))?.size ?? 0) >= WORTH_PACKING;
      if (ended !== undefined && isWanted)
        this.#waiting.set(name, { bytes: undefined, endedAt: ended.mtimeMs, attempts: 0 });
    }
  }

  async #attempt(build: string, waiting: Waiting): Promise<void> {
    const { bucket, log, onStored, backoff = defaultBackoff } = this.#deps;
    const { signal } = this.#stop;
    try {
      await this.#keep(build);
      this.#waiting.delete(build);
      if (bucket === undefined) return;
      onStored('stored');
      if (this.#failures > 0) log.info({}, `logs are stored in ${bucket.place} again`);
      this.#failures = 0;
    } catch (error) {
      if (signal.aborted) return;
      this.#failures += 1;
      // The next one is tried first: what is wrong may be this one.
      this.#waiting.delete(build);
      const attempts = waiting.attempts + 1;
      if (bucket !== undefined || attempts < MOST_PACKINGS)
        this.#waiting.set(build, { ...waiting, attempts });
      if (bucket !== undefined) {
        onStored('failed');
        await this.#measure();
      }
      this.#report(error, build);
      await pause(backoff(this.#failures), signal);
    }
  }

  #report(error: unknown, build: string): void {
    const { bucket, log } = this.#deps;
    if (bucket === undefined) {
      log.warn({ build, err: error }, 'a log could not be packed');
      return;
    }
    // Once when it begins, then now and then.
    if (this.#failures % 60 !== 1) return;
    const { builds } = this.waiting();
    const text = `logs of ${builds} builds wait for ${bucket.place}`;
    const reason = error instanceof Error ? error.message : String(error);
    log.warn({ build, error: reason }, `${text}: ${reason}`);
  }

  async #keep(build: string): Promise<void> {
    const { logDir, bucket } = this.#deps;
    const path = logPathOf(logDir, build);
    const size = (await statOrNot(path))?.size ?? 0;
    if (bucket !== undefined || size >= WORTH_PACKING) await packLog(logDir, build, this.#stop.signal);
    // Removed for its age meanwhile.
    if (bucket === undefined || (await statOrNot(completeMarkOf(path))) === undefined) return;
    await uploadBuild(logDir, build, bucket, this.#stop.signal);
    await removeStored(logDir, build);
  }

  /** Only while they wait for the bucket: else they are gone in a moment. */
  async #measure(): Promise<void> {
    for (const [build, waiting] of this.#waiting)
      if (waiting.bytes === undefined && !this.#stop.signal.aborted)
        this.#waiting.set(build, { ...waiting, bytes: await bytesOf(this.#deps.logDir, build) });
  }
}

async function bytesOf(logDir: string, build: string): Promise<number> {
  const path = logPathOf(logDir, build);
  const log = (await statOrNot(path)) ?? (await statOrNot(packedLogOf(logDir, build)));
  const kept = await readKeptFiles(logDir, build);
  return (log?.size ?? 0) + (kept?.files ?? []).reduce((sum, { bytes }) => sum + bytes, 0);
}

/** In one step for readers: they find it whole, or go to the bucket. */
async function removeStored(logDir: string, build: string): Promise<void> {
  const kept = await readKeptFiles(logDir, build);
  const away = join(logDir, `${STORED}${build}`);
  await rename(join(logDir, build), away);
  await rm(away, { recursive: true, force: true });
  for (const sha256 of new Set(kept?.files.map(file => file.sha256))) {
    const blob = join(logDir, BLOBS, sha256.slice(0, 2), `${sha256}.gz`);
    // Another build has the same file where there is another name.
    if ((await statOrNot(blob))?.nlink === 1) await rm(blob, { force: true });
  }
}

function defaultBackoff(attempt: number): number {
  return backoffDelay(BACKOFF, attempt, Math.random());
}

async function statOrNot(path: string) {
  try {
    return await stat(path);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}
