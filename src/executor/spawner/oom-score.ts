/**
 * Whom the kernel kills when the machine is out of memory: the process with the highest score, and a job's is the highest there is. So a
 * job that eats the machine costs itself its life, not the service.
 *
 * A process inherits the score of its parent. Ours is raised for the moment of the fork, which nothing else of this process can
 * fall into, and put back; so there is no moment at which a job has less.
 */
import { readFileSync, writeFileSync } from 'node:fs';

const SCORE = '/proc/self/oom_score_adj';
/** Any job before anything else, however small it is. */
const OF_JOBS = '1000';

export function killedFirst<T>(fork: () => T): T {
  const own = read();
  if (own === undefined || !write(OF_JOBS)) return fork();
  try {
    return fork();
  } finally {
    write(own);
  }
}

/** @returns why jobs cannot be given a score here, one line; undefined: they can. */
export function oomScoreProblem(): string | undefined {
  const own = read();
  if (own === undefined) return `${SCORE} cannot be read`;
  if (!write(OF_JOBS)) return `${SCORE} cannot be written`;
  return write(own) ? undefined : `${SCORE} cannot be lowered again`;
}

function read(): string | undefined {
  return orUndefined(() => readFileSync(SCORE, 'latin1').trim());
}

function write(score: string): boolean {
  return (
    orUndefined(() => {
      writeFileSync(SCORE, score);
      return true;
    }) ?? false
  );
}

/** Undefined where there is no /proc, or it is closed to us. */
function orUndefined<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch (error) {
    if (error instanceof Error && 'code' in error) return undefined;
    throw error;
  }
}
