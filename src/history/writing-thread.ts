/** A worker thread that runs the statements of the writer of a SQLite history; see threaded-history.ts. It gets finished SQL, so that it starts quickly. */
import { workerData } from 'node:worker_threads';
import { serveCalls } from '../lib/worker-calls.ts';
import { type WritingTable, writingTable } from './writing-table.ts';

const { path }: { readonly path: string } = workerData;
serveCalls<WritingTable>(writingTable(path));
