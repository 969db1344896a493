/**
 * Unix users for jobs, when the service is root: one per slot, so that builds can neither signal nor limit each other, and a
 * separate block for every executor of a host, because leftovers of a job without a sandbox are found by their user.
 *
 * These numbers are assigned by no other program: 65 536 to 99 999 lie between the ranges of distributions and systemd for users
 * and services and the start of subordinate ids. A container that knows only 65 536 ids gets some near the end. The block is
 * derived from `job_dir`, which two executors never share.
 */
import { readFileSync } from 'node:fs';
import { sha256 } from '../../lib/ids.ts';

interface Range {
  readonly from: number;
  /** Exclusive. */
  readonly to: number;
}

const USUAL: Range = { from: 65_600, to: 100_000 };
const NARROW: Range = { from: 60_600, to: 65_500 };

/** The user (and group) id of slot 0; the others follow. */
export function firstJobUser(jobDir: string, slots: number): number {
  const { from, to } = knows(USUAL) ? USUAL : NARROW;
  const blocks = Math.max(1, Math.floor((to - from) / slots));
  return from + (Number.parseInt(sha256(jobDir).slice(0, 8), 16) % blocks) * slots;
}

/** Whether all ids of the range exist in the user namespace we are in. */
function knows({ from, to }: Range): boolean {
  return mapping().some(({ start, count }) => start <= from && to <= start + count);
}

function mapping(): { readonly start: number; readonly count: number }[] {
  try {
    const lines = readFileSync('/proc/self/uid_map', 'latin1').trim().split('\n');
    return lines.map(line => {
      const [start = 0, , count = 0] = line.trim().split(/\s+/).map(Number);
      return { start, count };
    });
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return [];
    throw error;
  }
}
