/**
 * Starts a process inside a control group: a child is born in the group of its parent, so we go there for the moment of the fork. Nothing else
 * of this process runs meanwhile, and there is no moment at which the child is outside.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Directories of control groups, version 2. */
export interface ChildCgroup {
  readonly path: string;
  /** Where we are otherwise. */
  readonly home: string;
}

/** @throws Error of the file system where we may not go there, or not back. */
export function inCgroup<T>(cgroup: ChildCgroup | undefined, fork: () => T): T {
  if (cgroup === undefined) return fork();
  enter(cgroup.path);
  try {
    return fork();
  } finally {
    enter(cgroup.home);
  }
}

/** 0 is the process that writes. */
function enter(path: string): void {
  writeFileSync(join(path, 'cgroup.procs'), '0');
}
