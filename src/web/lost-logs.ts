import type { HttpRefusal } from './answer.ts';

/** The bucket with the logs of builds cannot be asked: the log may well be there. */
export class LogsOutOfReach extends Error {
  override readonly name = 'LogsOutOfReach';

  constructor(cause: unknown) {
    super(`the bucket with the logs: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
  }
}

/** @returns undefined for any other error. */
export function refusalForLostLogs(error: unknown): HttpRefusal | undefined {
  if (!(error instanceof LogsOutOfReach)) return undefined;
  return {
    kind: 'refused',
    status: 503,
    error: 'the bucket with the logs of builds cannot be reached; try again later',
    place: 'log store',
    headers: { 'Retry-After': '10' },
  };
}
