/**
 * Starts a process inside control groups: a child is born in the groups of its parent, so we move there for the moment of the fork.
 * Nothing else of this process runs meanwhile, and the child is never outside.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Directories of one hierarchy of control groups. */
export interface ChildCgroup {
  readonly path: string;
  /** Our own group. */
  readonly home: string;
}

/** @throws Error of the file system where we may not move there, or not back. */
export function inCgroups<T>([first, ...rest]: readonly ChildCgroup[], fork: () => T): T {
  if (first === undefined) return fork();
  enter(first.path);
  try {
    return inCgroups(rest, fork);
  } finally {
    enter(first.home);
  }
}

/** 0 is the process that writes. */
function enter(path: string): void {
  writeFileSync(join(path, 'cgroup.procs'), '0');
}
