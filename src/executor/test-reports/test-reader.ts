/** Results of tests in what jobs left, read in a thread that is started with the first build that left some. One build after the other. */
import { ownModule } from '../../lib/own-file.ts';
import { CallLost, callsToWorker, type WorkerLimits } from '../../lib/worker-calls.ts';
import type { TestName } from '../../model/watched-tests.ts';
import { walkFiles } from '../log-store/walk-files.ts';
import { mayReport } from './read-reports.ts';
import type { CollectedTests } from './test-cases.ts';

/** Functions of the thread. */
export interface ReportsTable {
  read(asked: { readonly directory: string; readonly watched: readonly TestName[] }): Promise<CollectedTests>;
}

/** One for all builds of an executor. */
export interface TestReader extends AsyncDisposable {
  /**
   * @param watched whose passes are collected; not asked where there is no file. Default: none.
   * @returns undefined: the job left no such file. Never rejects because of what is in the files.
   * @throws Error of the file system, or of `watched`.
   */
  read(directory: string, watched?: () => Promise<readonly TestName[]>): Promise<CollectedTests | undefined>;
}

/** Milliseconds of processor time for the files of one build. */
const MOST_MS = 10_000;
const HEAP_MB = 256;
/** Builds that may wait for the thread. */
const WAITING = 50;

/** @param limits that differ from those above. */
export function createTestReader(limits: Partial<WorkerLimits> = {}): TestReader {
  const calls = callsToWorker<ReportsTable>({
    entry: ownModule('src/executor/test-reports/reports-thread'),
    data: null,
    limits: { ms: MOST_MS, of: 'processor', heapMb: HEAP_MB, waiting: WAITING, ...limits },
  });
  return {
    async read(directory, watched = async () => []) {
      if (!(await hasCandidate(directory))) return undefined;
      try {
        const found = await calls.call('read', { directory, watched: await watched() });
        return found.totals.files === 0 ? undefined : found;
      } catch (error) {
        if (!(error instanceof CallLost)) throw error;
        return unread(error.message);
      }
    },
    [Symbol.asyncDispose]: () => calls[Symbol.asyncDispose](),
  };
}

async function hasCandidate(directory: string): Promise<boolean> {
  for await (const { handle } of walkFiles(directory, () => {}, mayReport)) {
    await handle.close();
    return true;
  }
  return false;
}

function unread(reason: string): CollectedTests {
  const totals = { files: 0, suites: 0, cases: 0, failed: 0, skipped: 0 };
  return {
    totals,
    suites: [],
    passed: [],
    problems: [`the results of the tests could not be read: ${reason}`],
  };
}
