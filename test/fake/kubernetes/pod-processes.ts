/**
 * What runs "in" pods, in place of a container runtime: processes of this machine, with a home directory of the pod's own and its name in `$POD`.
 * The pod's own command is `$MAIN`; a pod lives as long as that runs, and nothing of the pod outlives it.
 *
 * Below the folder each pod that runs has a directory and beside it a file with the environment of its commands, by which
 * `test/kubernetes/exec-server` runs commands as well.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { constants, tmpdir } from 'node:os';
import path from 'node:path';
import { processesWith } from '../processes-with.ts';

export interface PodProcesses extends AsyncDisposable {
  readonly folder: string;
  /** @param ended called with its exit status, unless the pod is ended. */
  begin(pod: string, command: readonly string[], ended: (status: number) => void): void;
  startIn(pod: string, command: readonly string[]): ChildProcess;
  /** Processes in it now, besides those that it began with. */
  running(pod: string): number;
  end(pod: string): void;
}

export async function openPodProcesses(): Promise<PodProcesses> {
  const folder = await mkdtemp(path.join(tmpdir(), 'gatehouse-pods-'));
  const mains = new Set<string>();
  const home = (pod: string) => path.join(folder, pod);
  const environmentFile = (pod: string) => path.join(folder, `${pod}.env`);

  function end(pod: string): void {
    if (!mains.delete(pod)) return;
    rmSync(environmentFile(pod), { force: true });
    // One that is killed may have begun another meanwhile.
    for (let looks = 0, left = all(pod); left.length > 0; looks++, left = all(pod)) {
      if (looks > MOST_LOOKS) throw new Error(`processes ${left.join(', ')} of ${pod} do not end`);
      for (const pid of left) kill(Number(pid));
    }
  }

  return {
    folder,
    begin(pod, [program = '', ...rest], ended) {
      mkdirSync(home(pod), { recursive: true });
      const own = { PATH: process.env.PATH, HOME: home(pod), POD: pod };
      const main = spawn(program, rest, { cwd: home(pod), detached: true, stdio: 'ignore', env: own });
      const lines = Object.entries({ ...own, IN_POD: pod, MAIN: String(main.pid) });
      writeFileSync(environmentFile(pod), lines.map(([name, value]) => `${name}=${value}\n`).join(''));
      mains.add(pod);
      main.on('exit', (code, signal) => {
        if (mains.has(pod)) ended(statusOf(code, signal));
      });
    },
    startIn(pod, [program = '', ...rest]) {
      const lines = readFileSync(environmentFile(pod), 'utf8').split('\n').filter(Boolean);
      const env = Object.fromEntries(lines.map(line => line.split(/=(.*)/, 2)));
      return spawn(program, rest, { cwd: home(pod), detached: true, stdio: 'pipe', env });
    },
    running: pod => processesWith(`IN_POD=${pod}\0`).length,
    end,
    async [Symbol.asyncDispose]() {
      for (const pod of [...mains]) end(pod);
      await rm(folder, { recursive: true, force: true });
    },
  };
}

const MOST_LOOKS = 1000;

/** As container runtimes count. */
export function statusOf(code: number | null, signal: NodeJS.Signals | null): number {
  return code ?? 128 + (signal === null ? 0 : constants.signals[signal]);
}

function all(pod: string): readonly string[] {
  return processesWith(`POD=${pod}\0`);
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has ended.
  }
}
