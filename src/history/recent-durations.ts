import { sql } from 'kysely';
import type { ProjectKey } from '../model/project.ts';
import type { Database } from './schema.ts';

/** Number of newest builds read: older ones are less relevant, and a large table must not be read completely. */
const NEWEST = 50_000;
/** Number of successes in the mean. */
const SAMPLES = 10;

/** Read by schedulers, which expect builds of the job to take as long. */
export interface RecentDuration {
  readonly tenant: string;
  readonly project: ProjectKey;
  readonly job: string;
  /** Mean of the last successes, in milliseconds. */
  readonly ms: number;
}

/** The expected duration of each job for each project, as far as its last successes are among the newest builds. */
export async function recentDurations(database: Database): Promise<readonly RecentDuration[]> {
  const { rows } = await sql<RecentDuration>`
    select tenant, project, job, cast(avg(ms) as double precision) as ms from (
      select buildset.tenant as tenant, buildset_ref.project_key as project, build.job_name as job,
        (cast(build.end_time as bigint) - cast(build.start_time as bigint)) / 1000000 as ms,
        row_number() over (partition by buildset.tenant, buildset_ref.project_key, build.job_name
          order by build.id desc) as place
      from build join buildset on buildset.id = build.buildset_id
        join buildset_ref on buildset_ref.buildset_id = buildset.id
      where build.id > (select coalesce(max(id), 0) from build) - ${NEWEST} and build.result = 'SUCCESS'
        and build.start_time is not null and build.end_time is not null) as samples
    where place <= ${SAMPLES} group by tenant, project, job`.execute(database);
  return rows;
}
