/** Logs of builds: from this machine's log directory, else from the executor that ran the build. */
import { fetchLog } from '../../executor/log-client.ts';
import { type LogPart, logPathOf, readLogPart } from '../../executor/log-file.ts';
import type { Log } from '../../lib/log.ts';
import type { ExecutorSettings } from '../../settings/settings.ts';
import type { RegisteredComponent } from '../../store/component-view.ts';
import type { LogQuestion } from '../../web/deps.ts';

/** Where a log may be. Of the registered components only executors with a log server have an address. */
export interface BuildLogsDeps {
  readonly settings: Pick<ExecutorSettings, 'logDir' | 'logToken'>;
  readonly components: () => readonly RegisteredComponent[];
  readonly log: Log;
}

/** Milliseconds an executor has for its answer. */
const ANSWER_LIMIT = 5_000;

/** @returns undefined when neither this machine nor a reachable executor has the log. */
export async function readBuildLog(
  { settings, components, log }: BuildLogsDeps,
  { build, worker, offset, limit }: LogQuestion,
): Promise<LogPart | undefined> {
  const local = await readLogPart(logPathOf(settings.logDir, build), offset, limit);
  if (local !== undefined) return local;
  // Executors of one machine need not share a log directory: ask each.
  for (const { id, host, address } of components()) {
    if (address === null || (worker !== null && host !== worker)) continue;
    try {
      const place = { address, secret: settings.logToken };
      const part = await fetchLog(place, build, offset, limit, AbortSignal.timeout(ANSWER_LIMIT));
      if (part !== undefined) return part;
    } catch (error) {
      log.warn({ executor: id, build, err: error }, 'cannot read a log from an executor');
    }
  }
  return undefined;
}
