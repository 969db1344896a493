/**
 * The steps from an empty file to {@link import('./schema.ts').Schema}. A step that was ever released is never edited;
 * a new one is added below. A database that has seen steps unknown here was written by a newer version: refused.
 */
import { type Kysely, sql } from 'kysely';
import { type Migration, Migrator } from 'kysely/migration';

type AnyDatabase = Parameters<Migration['up']>[0];

const MIGRATIONS: Readonly<Record<string, Migration>> = {
  '0001-builds-buildsets-items-decisions': { up: first },
};

/** @throws Error saying what to do when the file cannot be brought to this version. */
export async function migrate<Tables>(database: Kysely<Tables>, file: string): Promise<void> {
  const migrator = new Migrator({ db: database, provider: { getMigrations: async () => MIGRATIONS } });
  const { error } = await migrator.migrateToLatest();
  if (error === undefined) return;
  const reason = error instanceof Error ? error.message : String(error);
  throw new Error(
    `the history database ${file} cannot be used by this version: ${reason}. Start the version that wrote it, or name another file in [database] path`,
    { cause: error },
  );
}

async function first(database: AnyDatabase): Promise<void> {
  await sql`create table item (
    id integer primary key autoincrement, uuid text not null unique, tenant text not null, pipeline text not null,
    result text not null, reason text not null, resets integer not null, enqueued_at text not null, left_at text not null,
    document text not null)`.execute(database);
  await sql`create index item_by_tenant on item (tenant, id)`.execute(database);

  await sql`create table buildset (
    id integer primary key autoincrement, uuid text not null unique, tenant text not null, pipeline text not null,
    item text not null references item (uuid) on delete cascade, number integer not null, result text, cause text,
    event_id text not null, event_type text not null, event_timestamp text not null, created_at text not null, ended_at text,
    first_build_start_time text, last_build_end_time text)`.execute(database);
  await sql`create index buildset_by_tenant on buildset (tenant, id)`.execute(database);
  await sql`create index buildset_by_item on buildset (item)`.execute(database);

  await sql`create table buildset_ref (
    buildset_id integer not null references buildset (id) on delete cascade, position integer not null,
    project_key text not null, project text not null, change text, patchset text, branch text, ref text not null,
    oldrev text, newrev text, ref_url text, primary key (buildset_id, position))`.execute(database);
  await sql`create index buildset_ref_by_project on buildset_ref (project, change)`.execute(database);

  await sql`create table build (
    id integer primary key autoincrement, uuid text not null unique,
    buildset_id integer not null references buildset (id) on delete cascade, job_name text not null,
    attempt integer not null, voting integer not null, final integer not null, result text, requested_at text not null,
    start_time text, end_time text, worker text, error_detail text, cause text)`.execute(database);
  await sql`create index build_by_buildset on build (buildset_id)`.execute(database);
  await sql`create index build_by_job on build (job_name, result, id)`.execute(database);

  await sql`create table decision (
    id integer primary key autoincrement, digest text not null unique, tenant text not null, project_key text not null,
    project text not null, change_key text not null, change_id text not null, at text not null, document text not null)`.execute(
    database,
  );
  await sql`create index decision_by_change on decision (tenant, change_id, at)`.execute(database);
}
