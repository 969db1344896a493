/**
 * Identifies a process: a pid alone is soon reused, so it is combined with the time the process started, in clock
 * ticks since boot as the kernel counts them.
 */
import { readFileSync } from 'node:fs';

/** Written as JSON to files that outlive the process: `process.json` of a build, `.owner-<n>` of a job directory. */
export interface ProcessIdentity {
  readonly pid: number;
  /** Field 22 of /proc/<pid>/stat with the boot id; null where there is no /proc. */
  readonly started: string | null;
}

/** The identity to leave in such a file. */
export function thisProcess(): ProcessIdentity {
  return { pid: process.pid, started: startOf(process.pid) };
}

/** Whether exactly that process still runs, and is no zombie, which is dead though its parent has not asked for its end. Without /proc: whether any process has its pid. */
export function isRunning(identity: ProcessIdentity): boolean {
  if (identity.started !== null) return startOf(identity.pid) === identity.started;
  try {
    return process.kill(identity.pid, 0);
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}

/** @returns undefined when `text` is not the JSON of a {@link thisProcess} result. */
export function parseProcessIdentity(text: string): ProcessIdentity | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
  if (typeof value !== 'object' || value === null || !('pid' in value) || !('started' in value))
    return undefined;
  const { pid, started } = value;
  if (typeof pid !== 'number' || (started !== null && typeof started !== 'string')) return undefined;
  return { pid, started };
}

function startOf(pid: number): string | null {
  const stat = readOrNull(`/proc/${pid}/stat`);
  if (stat === null) return null;
  // The program's name, in parentheses, may hold blanks and parentheses itself: count from its end.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [state] = fields;
  if (state === 'Z' || state === 'X') return null;
  const ticks = fields[19];
  const boot = readOrNull('/proc/sys/kernel/random/boot_id')?.trim() ?? '';
  return `${boot}/${ticks ?? ''}`;
}

function readOrNull(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ESRCH'))
      return null;
    throw error;
  }
}
