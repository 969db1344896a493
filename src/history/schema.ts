/**
 * The tables, as the newest migration leaves them. Times are nanoseconds as decimal text: 19 digits until the year 2286,
 * so text order is time order. Booleans are 0 and 1.
 */
import type { Generated, Kysely } from 'kysely';

/** One queue item that left; `document` is the whole QueueItem, from which its trace is drawn. */
interface ItemTable {
  id: Generated<number>;
  uuid: string;
  tenant: string;
  pipeline: string;
  result: string;
  /** `LeaveCode`. */
  reason: string;
  /** Superseded buildsets. */
  resets: number;
  enqueued_at: string;
  left_at: string;
  /** JSON. */
  document: string;
}

/** One buildset of an item, deleted with it. */
export interface BuildsetTable {
  id: Generated<number>;
  uuid: string;
  tenant: string;
  pipeline: string;
  /** Uuid of its item. */
  item: string;
  /** From 1, within the item. */
  number: number;
  /** Null: the item left before it had one. */
  result: string | null;
  /** JSON of the ResetCause that made it; null for the first. */
  cause: string | null;
  /** Of the event that enqueued the item; likewise type and time. */
  event_id: string;
  event_type: string;
  event_timestamp: string;
  created_at: string;
  ended_at: string | null;
  /** Null: no worker took any of its builds; likewise the end. */
  first_build_start_time: string | null;
  last_build_end_time: string | null;
}

/** One change of a buildset; several only for cycles. */
export interface RefTable {
  buildset_id: number;
  /** From 0, in the order of the item. */
  position: number;
  project_key: string;
  project: string;
  /** Id at the host; null for a ref update. Likewise the patchset. */
  change: string | null;
  patchset: string | null;
  /** Null: a tag, or another ref that is no branch. */
  branch: string | null;
  ref: string;
  /** Null for a change, and for a ref that was created. */
  oldrev: string | null;
  /** Null for a change, and for a ref that was deleted. */
  newrev: string | null;
  ref_url: string | null;
}

/** One build, deleted with its buildset. */
export interface BuildTable {
  id: Generated<number>;
  uuid: string;
  buildset_id: number;
  /** Of its buildset. */
  tenant: string;
  job_name: string;
  attempt: number;
  voting: number;
  /** 0: another attempt followed. */
  final: number;
  result: string | null;
  requested_at: string;
  /** Null: no worker took it. */
  start_time: string | null;
  end_time: string | null;
  worker: string | null;
  error_detail: string | null;
  /** JSON of the CancelCause; null unless cancelled. */
  cause: string | null;
  /** As the job gave it; null: it gave none. */
  log_url: string | null;
  /** JSON of the Artifacts; null: none. */
  artifacts: string | null;
  /** JSON of the names that its job provides; null: none. */
  provides: string | null;
  /** JSON of the warnings with its result; null: none. */
  warnings: string | null;
  /** JSON of the ReturnedComments; null: none. */
  file_comments: string | null;
}

/** A test that failed, or passed although it failed lately, in a build that counts (`failed-tests.ts`); deleted with the build. */
interface RunTestTable {
  id: Generated<number>;
  build_id: number;
  /** Of the build. */
  tenant: string;
  /** As `testKey` makes it: the same test in all builds of the project. */
  test_key: string;
  /** First change of its item. */
  change_key: string;
  /** When the build ended. */
  at: string;
}

interface DecisionTable {
  id: Generated<number>;
  /** SHA-256 of `document`: a repeated decision is kept once. */
  digest: string;
  tenant: string;
  project_key: string;
  project: string;
  change_key: string;
  /** The change key without its project. */
  change_id: string;
  at: string;
  document: string;
}

/** One row: the id of the database, wherever it is moved. */
interface IdentityTable {
  id: string;
  /** Id of the installation that writes it, `service.instance.id` of its spans; null until the first web of this version does. */
  installation: string | null;
}

/** A trace that is neither an item nor part of one, as it was exported. */
interface TraceTable {
  id: Generated<number>;
  /** SHA-256 of `document`: a repeated part is kept once. */
  digest: string;
  trace_id: string;
  /** End of its last span. */
  ended_at: string;
  /** JSON of the SpanRecords. */
  document: string;
}

/** By the names in the database. Queries are checked against it when they are compiled. */
export interface HistoryTables {
  identity: IdentityTable;
  item: ItemTable;
  buildset: BuildsetTable;
  buildset_ref: RefTable;
  build: BuildTable;
  failed_test: RunTestTable;
  /** Of tests that are watched. */
  passed_test: RunTestTable;
  decision: DecisionTable;
  trace: TraceTable;
}

/** An open database of either kind. */
export type Database = Kysely<HistoryTables>;
