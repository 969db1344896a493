/** A worker thread that runs the statements of the writer of a SQLite history; see threaded-history.ts. It gets finished SQL, so that it starts quickly. */
import { serveCalls } from '../lib/worker-calls.ts';
import { type WritingTable, writingTable } from './writing-table.ts';

serveCalls<WritingTable, { readonly path: string }>(({ path }) => {
  const table = writingTable(path);
  return { ...table, [Symbol.dispose]: () => table.close(null) };
});
