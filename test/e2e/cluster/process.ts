/**
 * One process of a cluster, as an operator would start it, and everything that can happen to one.
 *
 *     const scheduler = createProcess({ name: 'scheduler-1', role: 'scheduler', config, log });
 *     await scheduler.start();
 *     await scheduler.kill();             // kill -9
 *     await scheduler.start();            // a new pid, the same name
 *     scheduler.freeze();                 // SIGSTOP: it does not know that time passes
 *     scheduler.thaw();
 *     await scheduler.stop();             // SIGTERM, and how it ended
 *
 * Its output is kept in a file and in memory; it always ends with the test process.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { createWriteStream } from 'node:fs';
import { performance } from 'node:perf_hooks';
import { pathToFileURL } from 'node:url';

export type Role = 'scheduler' | 'merger' | 'executor' | 'web';

export interface ProcessOptions {
  readonly name: string;
  readonly roles: readonly Role[];
  /** Path of its main module; not bin/gatehouse.mjs, which has a process in between. */
  readonly program: string;
  /** Its gatehouse.conf. */
  readonly config: string;
  readonly logFile: string;
  readonly environment: NodeJS.ProcessEnv;
}

export interface ClusterProcess {
  readonly name: string;
  readonly roles: readonly Role[];
  /** Undefined while it does not run. */
  readonly pid: number | undefined;
  /** Every pid it ever had. */
  readonly pids: readonly number[];
  /** How it ended without being asked to: never, if all is well. */
  readonly failures: readonly string[];
  /** Everything it printed, in all its lives. */
  readonly lines: readonly string[];
  /** @throws Error when it runs already. */
  start(): Promise<void>;
  kill(): Promise<void>;
  /** SIGTERM. @returns exit status or signal, and how long it took in milliseconds. */
  stop(): Promise<{ readonly status: string; readonly tookMs: number }>;
  freeze(): void;
  thaw(): void;
  /** Resolves with the status when it ends by itself or is ended. */
  ended(): Promise<string>;
}

const END_WITH_PARENT = pathToFileURL(`${import.meta.dirname}/end-with-parent.ts`).href;

export function createProcess(options: ProcessOptions): ClusterProcess {
  const { name, roles, program, config, environment } = options;
  const log = createWriteStream(options.logFile, { flags: 'a' });
  const lines: string[] = [];
  const pids: number[] = [];
  const failures: string[] = [];
  let running:
    | { readonly child: ChildProcess; readonly pid: number; readonly ended: Promise<string> }
    | undefined;
  let isWanted = true;

  /** Whole lines into memory, every byte into the file. */
  function keep(child: ChildProcess): void {
    for (const stream of [child.stdout, child.stderr]) {
      let rest = '';
      stream?.setEncoding('utf8');
      stream?.on('data', (text: string) => {
        log.write(text);
        const parts = (rest + text).split('\n');
        rest = parts.pop() ?? '';
        lines.push(...parts);
      });
    }
  }

  function signal(which: NodeJS.Signals): void {
    if (running === undefined) throw new Error(`${name} does not run`);
    running.child.kill(which);
  }

  return {
    name,
    roles,
    pids,
    failures,
    lines,
    get pid() {
      return running?.pid;
    },
    async start() {
      if (running !== undefined) throw new Error(`${name} runs already`);
      isWanted = true;
      const child = spawn(
        process.execPath,
        ['--import', END_WITH_PARENT, program, 'start', ...roles, '--config', config],
        { stdio: ['pipe', 'pipe', 'pipe'], env: environment },
      );
      keep(child);
      const { promise, resolve, reject } = Promise.withResolvers<string>();
      child.once('error', reject);
      child.once('exit', (code, cause) => {
        lines.push(`-- ${name} (${child.pid}) ended: ${cause ?? code}`);
        if (isWanted && cause !== 'SIGKILL') failures.push(`${name} ended by itself: ${cause ?? code}`);
        running = undefined;
        resolve(cause ?? String(code));
      });
      const { pid } = child;
      if (pid === undefined) throw new Error(`${name} did not start: ${await promise}`);
      const endTogether = () => child.kill('SIGKILL');
      process.once('exit', endTogether);
      void promise.finally(() => process.removeListener('exit', endTogether));
      pids.push(pid);
      lines.push(`-- ${name} is process ${pid}`);
      running = { child, pid, ended: promise };
    },
    async kill() {
      if (running === undefined) return;
      const { ended } = running;
      signal('SIGKILL');
      await ended;
    },
    async stop() {
      if (running === undefined) throw new Error(`${name} does not run`);
      const { ended } = running;
      isWanted = false;
      const began = performance.now();
      signal('SIGTERM');
      return { status: await ended, tookMs: performance.now() - began };
    },
    freeze: () => signal('SIGSTOP'),
    thaw: () => signal('SIGCONT'),
    ended: () => running?.ended ?? Promise.reject(new Error(`${name} does not run`)),
  };
}
