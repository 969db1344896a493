/** A SQLite history with very many builds, made by SQL alone: ten builds per buildset, one buildset per item, two tenants. */
import { DatabaseSync } from 'node:sqlite';

/** @param file made by `openHistory`. @param builds a multiple of 10. */
export function fillHistory(file: string, builds: number): void {
  const database = new DatabaseSync(file);
  database.exec('PRAGMA synchronous = OFF');
  database.exec('begin');
  const numbers = `with recursive n(i) as (select 1 union all select i + 1 from n where i < ${builds / 10})`;
  const tenant = `case when i % 10 = 0 then 'small' else 'big' end`;
  database.exec(`${numbers} insert into item (id, uuid, tenant, pipeline, result, reason, resets, enqueued_at, left_at, document)
    select i, 'item-' || i, ${tenant}, 'gate', 'SUCCESS', 'merged', 0,
      printf('%d', 1790000000000000000 + i), printf('%d', 1790000000000000000 + i), '{}' from n`);
  database.exec(`${numbers} insert into buildset (id, uuid, tenant, pipeline, item, number, result, event_id, event_type, event_timestamp, created_at)
    select i, 'set-' || i, ${tenant}, 'gate', 'item-' || i, 1, 'SUCCESS', 'e', 'e', '1790000000000000000', '1790000000000000000' from n`);
  database.exec(`${numbers} insert into buildset_ref (buildset_id, position, project_key, project, change, ref, branch)
    select i, 0, 'local/acme/p' || (i % 50), 'acme/p' || (i % 50), 'master/c' || i, 'refs/heads/for/master/c' || i, 'master' from n`);
  database.exec(`with recursive n(i) as (select 0 union all select i + 1 from n where i < ${builds - 1})
    insert into build (uuid, buildset_id, tenant, job_name, attempt, voting, final, result, requested_at, start_time, end_time)
    select 'build-' || i, i / 10 + 1, case when (i / 10 + 1) % 10 = 0 then 'small' else 'big' end, 'job-' || (i % 10), 1, 1, 1,
      case when i % 97 = 0 then 'FAILURE' else 'SUCCESS' end,
      '1790000000000000000', '1790000001000000000', '1790000060000000000' from n`);
  database.exec('commit');
  database.close();
}
