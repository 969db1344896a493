/** Where a job stands, as a class of the stylesheets and in a word. */
import type { LiveJob } from '../../api/live-job.ts';
import { type ResultKind, resultKind, resultWord } from './format.ts';

/** `run`: it runs. `wait`: it has not begun, or is paused. The others are those of its result. */
export type JobKind = 'run' | 'wait' | Exclude<ResultKind, 'open'> | 'open';

export function jobKind({ state, result }: Pick<LiveJob, 'state' | 'result'>): JobKind {
  if (state === 'waiting' || state === 'requested') return 'wait';
  if (state !== 'started') return resultKind(result);
  if (result === 'FAILING') return 'bad';
  return result === 'PAUSED' ? 'wait' : 'run';
}

const RUNNING_WORDS: { readonly [result: string]: string } = {
  FAILING: 'failed, post-run is running',
  PAUSED: 'paused for the jobs that depend on it',
};

/** For people: `running`, `passed`, `waits for executor`. */
export function jobWord(job: Pick<LiveJob, 'state' | 'result' | 'waitingFor'>): string {
  if (job.state === 'started') return RUNNING_WORDS[job.result ?? ''] ?? 'running';
  if (job.result !== null) return resultWord(job.result);
  return job.waitingFor === null ? 'not started' : `waits for ${job.waitingFor}`;
}
