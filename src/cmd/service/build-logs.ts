/** Logs of builds: from this machine's log directory, else from the executor that ran the build, else from the bucket of `[log_store]`. */
import {
  fetchKeptFile,
  fetchKeptFiles,
  fetchLog,
  fetchPackedLog,
  type LogPlace,
} from '../../executor/log-client.ts';
import type { BucketLogs } from '../../executor/log-store/bucket-logs.ts';
import { openKept, readKeptFiles } from '../../executor/log-store/kept-files.ts';
import { openPackedLog, readBuildLog } from '../../executor/log-store/read-log.ts';
import type { Log } from '../../lib/log.ts';
import type { ExecutorSettings } from '../../settings/settings.ts';
import type { RegisteredComponent } from '../../store/component-view.ts';
import type { LogQuestion, WebDeps } from '../../web/deps.ts';
import { LogsOutOfReach } from '../../web/lost-logs.ts';

/** Where a log may be. Of the registered components only executors with a log server have an address. */
interface BuildLogsDeps {
  readonly settings: Pick<ExecutorSettings, 'logDir' | 'logToken'>;
  readonly components: () => readonly RegisteredComponent[];
  /** Undefined: none is set, and logs stay where their builds ran. */
  readonly bucket: BucketLogs | undefined;
  readonly log: Log;
}

/** Milliseconds an executor or the bucket has for its answer. */
const ANSWER_LIMIT = 5_000;
/** Milliseconds in which a file must have come whole. */
const FILE_LIMIT = 600_000;

/** Undefined answers: neither this machine, nor a reachable executor, nor the bucket has it. */
export function buildLogs(
  deps: BuildLogsDeps,
): Pick<WebDeps, 'readLog' | 'openLog' | 'logFiles' | 'openLogFile'> {
  const { logDir } = deps.settings;
  return {
    readLog: ({ build, offset, limit, worker }) =>
      fromSomewhere(deps, { build, worker }, answered, {
        here: () => readBuildLog(logDir, build, offset, limit),
        there: (place, signal) => fetchLog(place, build, offset, limit, signal),
        stored: (bucket, signal) => bucket.readLog(build, offset, limit, signal),
      }),
    openLog: ({ build, worker }) =>
      fromSomewhere(deps, { build, worker }, opened, {
        here: () => openPackedLog(logDir, build),
        there: (place, signal) => fetchPackedLog(place, build, signal),
        stored: (bucket, signal) => bucket.openLog(build, signal),
      }),
    logFiles: ({ build, worker }) =>
      fromSomewhere(deps, { build, worker }, answered, {
        here: () => readKeptFiles(logDir, build),
        there: (place, signal) => fetchKeptFiles(place, build, signal),
        stored: (bucket, signal) => bucket.files(build, signal),
      }),
    openLogFile: ({ build, worker, sha256 }) =>
      fromSomewhere(deps, { build, worker }, opened, {
        here: () => openKept(logDir, build, sha256),
        there: (place, signal) => fetchKeptFile(place, build, sha256, signal),
        stored: (bucket, signal) => bucket.openFile(build, sha256, signal),
      }),
  };
}

/** Asks with a limit. */
type Within = <T>(ask: (signal: AbortSignal) => Promise<T>) => Promise<T>;

const answered: Within = ask => ask(AbortSignal.timeout(ANSWER_LIMIT));

/** What is opened begins as soon as an answer does, and may then take its time. */
const opened: Within = async ask => {
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(new Error('no answer in time')), ANSWER_LIMIT);
  try {
    return await ask(AbortSignal.any([late.signal, AbortSignal.timeout(FILE_LIMIT)]));
  } finally {
    clearTimeout(timer);
  }
};

/** One question to each place that may know. */
interface Places<T> {
  here(): Promise<T | undefined>;
  there(place: LogPlace, signal: AbortSignal): Promise<T | undefined>;
  stored(bucket: BucketLogs, signal: AbortSignal): Promise<T | undefined>;
}

/**
 * A build is in one place, and moves from its executor to the bucket. What the bucket is known to have is nowhere else.
 *
 * @throws LogsOutOfReach
 */
async function fromSomewhere<T>(
  deps: BuildLogsDeps,
  question: Pick<LogQuestion, 'build' | 'worker'>,
  within: Within,
  places: Places<T>,
): Promise<T | undefined> {
  const { bucket } = deps;
  if (bucket?.isKnown(question.build) !== true) {
    const found = (await places.here()) ?? (await fromExecutor(deps, question, within, places));
    if (found !== undefined) return found;
  }
  if (bucket === undefined) return undefined;
  try {
    return await within(signal => places.stored(bucket, signal));
  } catch (error) {
    throw new LogsOutOfReach(error);
  }
}

/** Of the worker's machine: those of one machine need not share a log directory. */
async function fromExecutor<T>(
  { settings, components, log }: BuildLogsDeps,
  { build, worker }: Pick<LogQuestion, 'build' | 'worker'>,
  within: Within,
  { there }: Places<T>,
): Promise<T | undefined> {
  for (const { id, host, address } of components()) {
    if (address === null || (worker !== null && host !== worker)) continue;
    try {
      const place = { address, secret: settings.logToken };
      const found = await within(signal => there(place, signal));
      if (found !== undefined) return found;
    } catch (error) {
      log.warn({ executor: id, build, err: error }, 'cannot read a log from an executor');
    }
  }
  return undefined;
}
