/**
 * Finds processes a job left running outside a pid namespace: a daemon that forked twice and made its own session is in no known
 * process group any more, but it still has the job's environment, or the job's user.
 *
 * A job that runs as the service's own user *and* clears its environment escapes this; only the sandbox prevents that.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { MARK, type ProcessSpec } from './protocol.ts';

/** Several seconds. A process that survives so many is stuck in the kernel (a dead network file system): do not wait for it. */
const MAX_ROUNDS = 200;

/**
 * One round for the processes of {@link ProcessSpec.reach}; nothing for a namespace, which the kernel empties, and for a group.
 *
 * @returns how many were found alive, and killed.
 */
export function killStrays({ reach, user }: Pick<ProcessSpec, 'reach' | 'user'>): number {
  if (!('mark' in reach)) return 0;
  const found = strayProcesses(reach.mark, reach.kind === 'user' && user !== null ? user.uid : null);
  for (const pid of found) kill(pid);
  return found.length;
}

/** Returns when none is left: a process may fork meanwhile, and takes a moment to die. There is no event for it. */
export async function killStraysUntilGone(spec: Pick<ProcessSpec, 'reach' | 'user'>): Promise<void> {
  for (let round = 0; round < MAX_ROUNDS && killStrays(spec) > 0; round += 1) {
    await new Promise(resolve => setTimeout(resolve, Math.min(round, 20)));
  }
}

function strayProcesses(mark: string, uid: number | null): number[] {
  const entry = `${MARK}=${mark}`;
  return processIds().filter(
    pid => pid !== process.pid && (isMarked(pid, entry) || (uid !== null && isOf(pid, uid))),
  );
}

function processIds(): number[] {
  try {
    return readdirSync('/proc').map(Number).filter(Number.isInteger);
  } catch (error) {
    // No /proc on this system: the process group was all we could reach.
    if (isCode(error, 'ENOENT')) return [];
    throw error;
  }
}

function isMarked(pid: number, entry: string): boolean {
  return (
    reading(() => readFileSync(`/proc/${pid}/environ`, 'latin1').split('\0').includes(entry)) && isAlive(pid)
  );
}

/** By the real user: the owner of the directory in /proc is root for processes that may not be dumped. */
function isOf(pid: number, uid: number): boolean {
  return reading(() => new RegExp(`^Uid:\\s+${uid}\\s`, 'm').test(statusOf(pid))) && isAlive(pid);
}

/** False for zombies: dead already, they wait for their parent; killing them again would go on for ever. */
export function isAlive(pid: number): boolean {
  return reading(() => !/^State:\s+[ZX]/m.test(statusOf(pid)));
}

function statusOf(pid: number): string {
  return readFileSync(`/proc/${pid}/status`, 'latin1');
}

/** False for processes that ended meanwhile or belong to another user. */
function reading(test: () => boolean): boolean {
  try {
    return test();
  } catch (error) {
    if (isCode(error, 'ENOENT', 'ESRCH', 'EACCES', 'EPERM')) return false;
    throw error;
  }
}

function kill(pid: number): void {
  reading(() => process.kill(pid, 'SIGKILL'));
}

function isCode(error: unknown, ...codes: readonly string[]): boolean {
  return error instanceof Error && 'code' in error && codes.includes(String(error.code));
}
