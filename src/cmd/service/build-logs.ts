/** Logs of builds: from this machine's log directory, else from the executor that ran the build. */
import { fetchLog } from '../../executor/log-client.ts';
import { type LogPart, logPathOf, readLogPart } from '../../executor/log-file.ts';
import type { Log } from '../../lib/log.ts';
import type { ExecutorSettings } from '../../settings/settings.ts';
import type { RegisteredComponent } from '../../store/component-view.ts';
import type { LogQuestion } from '../../web/deps.ts';

export interface BuildLogsDeps {
  readonly settings: Pick<ExecutorSettings, 'logDir' | 'logToken'>;
  readonly components: () => readonly RegisteredComponent[];
  readonly log: Log;
}

/** Milliseconds an executor has for its answer. */
const ANSWER_LIMIT = 5_000;

/** @returns undefined when nobody who can be asked has such a log. */
export async function readBuildLog(
  { settings, components, log }: BuildLogsDeps,
  { build, worker, offset, limit }: LogQuestion,
): Promise<LogPart | undefined> {
  const local = await readLogPart(logPathOf(settings.logDir, build), offset, limit);
  if (local !== undefined) return local;
  // Several executors of one machine may share a log directory, or not: each is asked.
  for (const { id, host, address } of components()) {
    if (address === null || (worker !== null && host !== worker)) continue;
    try {
      const place = { address, secret: settings.logToken };
      const part = await fetchLog(place, build, offset, limit, AbortSignal.timeout(ANSWER_LIMIT));
      if (part !== undefined) return part;
    } catch (error) {
      log.warn({ executor: id, build, err: error }, 'an executor could not be asked for a log');
    }
  }
  return undefined;
}
