/** The thread in which files of jobs are parsed: the executor goes on meanwhile, and ends the thread when it takes too long. */
import { serveCalls } from '../../lib/worker-calls.ts';
import { readReports } from './read-reports.ts';
import type { ReportsTable } from './test-reader.ts';

serveCalls<ReportsTable, null>(() => ({ read: ({ directory, watched }) => readReports(directory, watched) }));
