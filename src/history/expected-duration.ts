import { sql } from 'kysely';
import type { Database } from './schema.ts';

/** Number of successes in the mean. */
const SAMPLES = 10;

/** The expected duration of a job in milliseconds, from its last successes for the project; undefined: unknown. */
export async function expectedDuration(
  database: Database,
  question: { readonly tenant: string; readonly project: string; readonly job: string },
): Promise<number | undefined> {
  const { rows } = await sql<{ readonly mean: number | null }>`
    select cast(avg(ms) as double precision) as mean from (
      select (cast(build.end_time as bigint) - cast(build.start_time as bigint)) / 1000000 as ms
      from build
      where build.job_name = ${question.job} and build.result = 'SUCCESS' and build.tenant = ${question.tenant}
        and build.start_time is not null and build.end_time is not null
        and exists (select 1 from buildset_ref where buildset_ref.buildset_id = build.buildset_id
          and buildset_ref.project_key = ${question.project})
      order by build.id desc limit ${SAMPLES}) as samples`.execute(database);
  return rows[0]?.mean ?? undefined;
}
