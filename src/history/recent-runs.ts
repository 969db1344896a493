import { sql } from 'kysely';
import type { ProjectKey } from '../model/project.ts';
import type { Database } from './schema.ts';

/** What statistics need of a finished build. */
export interface Run {
  readonly job: string;
  readonly result: string | null;
  /** Nanoseconds as decimal text; null: no worker took it. */
  readonly start_time: string | null;
  readonly end_time: string | null;
  readonly project_key: ProjectKey;
  /** What was tested, of the first change of the buildset: see {@link import('./schema.ts').RefTable}. */
  readonly change: string | null;
  readonly patchset: string | null;
  readonly ref: string;
  readonly newrev: string | null;
}

/** `limit`: builds that are read, so that the answer costs the same in a history of any length. */
export interface RunsQuestion {
  readonly tenant: string;
  /** Default: all jobs. */
  readonly job?: string;
  readonly limit: number;
}

/** Newest first. The newest builds are chosen first, along an index; their changes are read by id. */
export async function recentRuns(
  database: Database,
  { tenant, job, limit }: RunsQuestion,
): Promise<readonly Run[]> {
  const ofJob = job === undefined ? sql`` : sql`and job_name = ${job}`;
  const { rows } = await sql<Run>`
    select newest.job_name as job, newest.result, newest.start_time, newest.end_time,
      buildset_ref.project_key, buildset_ref.change, buildset_ref.patchset, buildset_ref.ref, buildset_ref.newrev
    from (select id, buildset_id, job_name, result, start_time, end_time from build
      where tenant = ${tenant} ${ofJob} order by id desc limit ${limit}) as newest
      join buildset_ref on buildset_ref.buildset_id = newest.buildset_id and buildset_ref.position = 0
    order by newest.id desc`.execute(database);
  return rows;
}
