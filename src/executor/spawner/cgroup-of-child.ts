/**
 * Starts a process inside control groups: a child is born in the groups of its parent, so we move there for the moment of the fork.
 * Nothing else of this process runs meanwhile, and the child is never outside.
 *
 * On a busy machine that moment is long enough for the child to run. The limit of memory is therefore set when we are out again: at a
 * limit the kernel kills the largest process of the group, which would be this one, and with it every job it watches.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Directories of one hierarchy of control groups. */
export interface ChildCgroup {
  /** The group the child begins in. */
  readonly path: string;
  /** Our own group. */
  readonly home: string;
  /** Files that hold the limit of memory, in the order in which they are written. */
  readonly memoryLimits: readonly MemoryLimit[];
}

/** One file of a group, written once the child is in it. */
export interface MemoryLimit {
  readonly file: string;
  /** Bytes. */
  readonly value: number;
  /** Not every kernel has it, or lets us write it. */
  readonly optional: boolean;
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

/**
 * To be called when the child is there and we are out.
 *
 * @returns `exceeded`: what is in a group holds more already, and the kernel (version 1) refuses to set the limit. Version 2 sets it, and
 * ends what is over it.
 * @throws Error of the file system.
 */
export function limitMemory(groups: readonly ChildCgroup[]): 'limited' | 'exceeded' {
  for (const { path, memoryLimits } of groups)
    for (const { file, value, optional } of memoryLimits) {
      try {
        writeFileSync(join(path, file), `${value}`);
      } catch (error) {
        if (!(error instanceof Error && 'code' in error)) throw error;
        if (error.code === 'EBUSY') return 'exceeded';
        if (!(optional && ['ENOENT', 'EACCES', 'EPERM'].includes(String(error.code)))) throw error;
      }
    }
  return 'limited';
}

/** 0 is the process that writes. */
function enter(path: string): void {
  writeFileSync(join(path, 'cgroup.procs'), '0');
}
