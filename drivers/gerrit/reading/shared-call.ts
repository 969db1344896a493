/** One call to Gerrit for several callers: it goes on as long as one of them waits, and each gets the steps since it joined. */
import type { GerritCall } from '../api/port.ts';

/** In the memory of one process. */
export interface SharedCall {
  /** For the request itself. */
  readonly call: GerritCall;
  /** Every caller has left. */
  isAbandoned(): boolean;
  /** @returns as `answer`. @throws the reason of the caller's own signal. */
  join<T>(answer: Promise<T>, caller: GerritCall): Promise<T>;
}

export function createSharedCall(): SharedCall {
  const callers = new Set<GerritCall>();
  const abandoned = new AbortController();
  let project: string | undefined;
  return {
    call: {
      get project() {
        return project ?? '';
      },
      signal: abandoned.signal,
      steps(step) {
        for (const caller of callers) caller.steps?.(step);
      },
    },
    isAbandoned: () => abandoned.signal.aborted,
    join(answer, caller) {
      project ??= caller.project;
      callers.add(caller);
      return new Promise((resolve, reject) => {
        const leave = () => {
          caller.signal.removeEventListener('abort', giveUp);
          callers.delete(caller);
        };
        const giveUp = () => {
          leave();
          if (callers.size === 0) abandoned.abort(caller.signal.reason);
          reject(caller.signal.reason);
        };
        caller.signal.addEventListener('abort', giveUp, { once: true });
        answer.finally(leave).then(resolve, reject);
      });
    },
  };
}
