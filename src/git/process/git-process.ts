/**
 * A git process, and how to start one as a child of this process. `starter/start-aside.ts` starts them from a small process.
 *
 * Starting a child copies the page tables of its parent: 1 ms for a small process; a process of 200 MB stands still for 6 ms.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';

/** One process to start, complete: the starter adds nothing. */
export interface ProcessRequest {
  /** Name or path. */
  readonly file: string;
  readonly args: readonly string[];
  readonly cwd: string;
  /** All of it: nothing is inherited. */
  readonly env: Readonly<Record<string, string>>;
}

/** Leads a process group of its own. */
export interface GitProcess {
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** Undefined until it is known to run. */
  readonly pid: number | undefined;
  /** Resolves when it has ended and its output was read. Never rejects. */
  readonly ended: Promise<GitEnd>;
  /** Signals it and all it started. Harmless when it has ended. */
  kill(signal: NodeJS.Signals): void;
}

/** `lost` and most cases of `not-started` come from the helper process of `starter/`. */
export type GitEnd =
  | { readonly kind: 'exited'; readonly code: number }
  | { readonly kind: 'killed'; readonly signal: NodeJS.Signals }
  | { readonly kind: 'not-started'; readonly reason: string }
  /** How it ended is not known. */
  | { readonly kind: 'lost'; readonly reason: string };

/** Returns before the process runs; whether it could be started is part of its end. */
export type StartProcess = (request: ProcessRequest) => GitProcess;

/** Starts git as a child of this process, in a process group of its own. */
export const startHere: StartProcess = ({ file, args, cwd, env }) => {
  const child = spawn(file, args, { cwd, env, stdio: 'pipe', detached: true });
  const ended = awaitGitEnd(child);
  return {
    stdin: child.stdin,
    stdout: child.stdout,
    stderr: child.stderr,
    get pid() {
      return child.pid;
    },
    ended,
    kill: groupKiller(child, ended),
  };
};

/** Resolves when the process has ended and its pipes are closed. Never rejects. */
export function awaitGitEnd(child: ChildProcess): Promise<GitEnd> {
  return new Promise(resolve => {
    child.once('error', error => resolve({ kind: 'not-started', reason: error.message }));
    child.once('close', (code, signal) =>
      resolve(signal === null ? { kind: 'exited', code: code ?? -1 } : { kind: 'killed', signal }),
    );
  });
}

/** Signals the child's process group (ssh, remote helpers, index-pack) until it has ended: then another group may have its id. */
export function groupKiller(
  child: { readonly pid?: number | undefined },
  ended: Promise<unknown>,
): (signal: NodeJS.Signals) => void {
  let over = false;
  void ended.then(() => {
    over = true;
  });
  return signal => {
    if (over || child.pid === undefined) return;
    try {
      process.kill(-child.pid, signal);
    } catch (error) {
      // The group has ended already.
      if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
    }
  };
}
