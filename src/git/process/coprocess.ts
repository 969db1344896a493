/**
 * A git process that keeps running and answers one question after another over its pipes: 0.1 ms instead of the 2 ms of a new
 * process. It starts with the first question, starts again after it died, and ends after some time without questions.
 *
 *     const reply = await coprocess.exchange('contents 1f7a…\n', reader => reader.until(10));
 *
 * Questions may be asked while others are open; answers are read in order. When the process dies, or an answer cannot be
 * read, all open questions fail with {@link CoprocessDied}: the stream is out of step and the process is replaced. The caller
 * decides whether to ask again.
 */
import { assertNever } from '../../lib/assert-never.ts';
import { type ByteFeed, type ByteReader, createByteFeed } from './byte-reader.ts';
import type { BudgetMember, CoprocessBudget } from './coprocess-budget.ts';
import type { GitEnd, GitProcess } from './git-process.ts';

/** A question is without an answer, and what git did with it is not known. */
export class CoprocessDied extends Error {
  override readonly name = 'CoprocessDied';
}

/** Works on one repository, for one purpose: reading objects or merging. */
export interface Coprocess {
  /** @param read reads exactly one answer. @throws CoprocessDied */
  exchange<T>(question: string | Uint8Array, read: (reader: ByteReader) => Promise<T>): Promise<T>;
  /** Pid of the running process, if one runs. */
  pid(): number | undefined;
  /** Ends the process after the open questions; later questions fail. */
  close(): Promise<void>;
}

/** Tests and `probe-merge-tree.ts` shorten the times. */
export interface CoprocessOptions {
  /** Milliseconds an answer may take; default 120 000. */
  readonly timeoutMs?: number;
  /** Milliseconds without questions after which the process ends; default 60 000. */
  readonly idleMs?: number;
  /** Shared bound on living processes; default none. */
  readonly budget?: CoprocessBudget;
  /** Called each time the process has ended: memory caches may be dropped, too. */
  readonly onEnd?: () => void;
}

/** One life of the process. */
interface Life {
  readonly child: GitProcess;
  readonly feed: ByteFeed;
  readonly ended: Promise<void>;
  last: Promise<unknown>;
  open: number;
}

/** @param start called at the first question, and at the next one after the process has ended. */
export function createCoprocess(start: () => GitProcess, options: CoprocessOptions = {}): Coprocess {
  const timeoutMs = options.timeoutMs ?? 120_000;
  const idleMs = options.idleMs ?? 60_000;
  let life: Life | undefined;
  let idle: NodeJS.Timeout | undefined;
  let closed = false;

  function begin(): Life {
    const child = start();
    const feed = createByteFeed();
    let stderr = '';
    child.stdout.on('data', (chunk: Buffer) => feed.push(chunk));
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr = (stderr + text).slice(-2000);
    });
    child.stdin.on('error', () => undefined);
    const ended = child.ended.then(end => {
      feed.fail(
        new CoprocessDied(`git process ended (${howOf(end)})${stderr === '' ? '' : `: ${stderr.trim()}`}`),
      );
      if (life?.child === child) gone();
    });
    return { child, feed, ended, last: Promise.resolve(), open: 0 };
  }

  /** The process is unusable: all open questions fail, and the next question starts another process. */
  function abandon(current: Life, why: string): void {
    if (life === current) gone();
    current.feed.fail(new CoprocessDied(why));
    current.child.kill('SIGKILL');
  }

  async function answer<T>(
    current: Life,
    before: Promise<unknown>,
    read: (reader: ByteReader) => Promise<T>,
  ): Promise<T> {
    await before;
    const deadline = setTimeout(
      () => abandon(current, `git did not answer within ${timeoutMs} ms`),
      timeoutMs,
    );
    try {
      return await read(current.feed);
    } catch (error) {
      abandon(current, 'an earlier answer could not be read');
      throw error instanceof CoprocessDied ? error : new CoprocessDied('unreadable answer', { cause: error });
    } finally {
      clearTimeout(deadline);
      current.open -= 1;
      if (current.open === 0) rest(current);
    }
  }

  function rest(current: Life): void {
    clearTimeout(idle);
    idle = setTimeout(() => {
      if (life === current && current.open === 0) retire(current);
    }, idleMs);
    idle.unref();
  }

  function retire(current: Life): void {
    gone();
    current.child.stdin.end();
  }

  function gone(): void {
    life = undefined;
    options.budget?.ended(member);
    options.onEnd?.();
  }

  const member: BudgetMember = {
    endIfIdle() {
      if (life === undefined || life.open > 0) return false;
      retire(life);
      return true;
    },
  };

  return {
    pid: () => life?.child.pid,
    exchange(question, read) {
      if (closed) return Promise.reject(new CoprocessDied('closed'));
      options.budget?.used(member);
      life ??= begin();
      const current = life;
      current.open += 1;
      current.child.stdin.write(question);
      const result = answer(current, current.last, read);
      current.last = result.catch(() => undefined);
      return result;
    },
    async close() {
      closed = true;
      clearTimeout(idle);
      const current = life;
      if (current === undefined) return;
      await current.last;
      if (life === current) retire(current);
      await current.ended;
    },
  };
}

function howOf(end: GitEnd): string {
  switch (end.kind) {
    case 'exited':
      return `exit code ${end.code}`;
    case 'killed':
      return end.signal;
    case 'not-started':
    case 'lost':
      return end.reason;
    default:
      return assertNever(end, 'end of a process');
  }
}
