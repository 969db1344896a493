/**
 * Which process the kernel kills when the machine is out of memory: the one with the highest score, and a job's is the highest
 * possible. So a job that uses up the machine's memory is killed itself, not the service.
 *
 * A process inherits the score of its parent. Ours is raised for the moment of the fork, during which nothing else of this process
 * runs, and put back; so a job never has a lower score.
 */
import { readFileSync, writeFileSync } from 'node:fs';

const SCORE = '/proc/self/oom_score_adj';
/** Any job before anything else, however small it is. */
const OF_JOBS = '1000';

/** @param fork must start the process before it returns. Where scores cannot be set, it is started with ours. */
export function killedFirst<T>(fork: () => T): T {
  const own = read();
  if (own === undefined || !write(OF_JOBS)) return fork();
  try {
    return fork();
  } finally {
    write(own);
  }
}

/** @returns why jobs cannot get a score here, one line; undefined: they can. */
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

/** Undefined where there is no /proc, or we may not use it. */
function orUndefined<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch (error) {
    if (error instanceof Error && 'code' in error) return undefined;
    throw error;
  }
}
