/** Logs of builds: from this machine's log directory, else from the executor that ran the build. */
import { fetchKeptFile, fetchKeptFiles, fetchLog, type LogPlace } from '../../executor/log-client.ts';
import { logPathOf, readLogPart } from '../../executor/log-file.ts';
import { openKept, readKeptFiles } from '../../executor/log-store/kept-files.ts';
import type { Log } from '../../lib/log.ts';
import type { ExecutorSettings } from '../../settings/settings.ts';
import type { RegisteredComponent } from '../../store/component-view.ts';
import type { LogQuestion, WebDeps } from '../../web/deps.ts';

/** Where a log may be. Of the registered components only executors with a log server have an address. */
interface BuildLogsDeps {
  readonly settings: Pick<ExecutorSettings, 'logDir' | 'logToken'>;
  readonly components: () => readonly RegisteredComponent[];
  readonly log: Log;
}

/** Milliseconds an executor has for its answer. */
const ANSWER_LIMIT = 5_000;

/** Undefined answers: neither this machine nor a reachable executor has it. */
export function buildLogs(deps: BuildLogsDeps): Pick<WebDeps, 'readLog' | 'logFiles' | 'openLogFile'> {
  const { logDir } = deps.settings;
  return {
    readLog: ({ build, offset, limit, worker }) =>
      fromSomewhere(
        deps,
        { build, worker },
        () => readLogPart(logPathOf(logDir, build), offset, limit),
        (place, signal) => fetchLog(place, build, offset, limit, signal),
      ),
    logFiles: ({ build, worker }) =>
      fromSomewhere(
        deps,
        { build, worker },
        () => readKeptFiles(logDir, build),
        (place, signal) => fetchKeptFiles(place, build, signal),
      ),
    openLogFile: ({ build, worker, sha256 }) =>
      fromSomewhere(
        deps,
        { build, worker },
        () => openKept(logDir, build, sha256),
        place => fetchKeptFile(place, build, sha256, AbortSignal.timeout(FILE_LIMIT)),
      ),
  };
}

/** Milliseconds in which a file must have come whole. */
const FILE_LIMIT = 600_000;

/** This machine, else the executors of the worker's: those of one machine need not share a log directory. */
async function fromSomewhere<T>(
  { settings, components, log }: BuildLogsDeps,
  { build, worker }: Pick<LogQuestion, 'build' | 'worker'>,
  here: () => Promise<T | undefined>,
  there: (place: LogPlace, signal: AbortSignal) => Promise<T | undefined>,
): Promise<T | undefined> {
  const local = await here();
  if (local !== undefined) return local;
  for (const { id, host, address } of components()) {
    if (address === null || (worker !== null && host !== worker)) continue;
    try {
      const place = { address, secret: settings.logToken };
      const found = await there(place, AbortSignal.timeout(ANSWER_LIMIT));
      if (found !== undefined) return found;
    } catch (error) {
      log.warn({ executor: id, build, err: error }, 'cannot read a log from an executor');
    }
  }
  return undefined;
}
