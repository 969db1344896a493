/**
 * The steps from an empty file to {@link import('./schema.ts').HistoryTables}. A released step is never edited;
 * a new one is added below. A database with steps unknown here was written by a newer version: refused.
 */
import { randomUUID } from 'node:crypto';
import { type Kysely, sql } from 'kysely';
import { type Migration, Migrator } from 'kysely/migration';

type AnyDatabase = Parameters<Migration['up']>[0];
/** The steps differ only in how rows are numbered. */
export type Dialect = 'sqlite' | 'postgresql';

const ATTEMPTS = 3;

function migrations(dialect: Dialect): Readonly<Record<string, Migration>> {
  return {
    '0001-builds-buildsets-items-decisions': { up: database => first(database, dialect) },
    '0002-identity': { up: identity },
    '0003-installation': { up: installation },
    '0004-tenant-of-builds': { up: tenantOfBuilds },
    '0005-traces': { up: database => traces(database, dialect) },
    '0006-returned-data': { up: returnedData },
    '0007-provided': { up: provided },
    '0008-warnings': { up: warnings },
    '0009-file-comments': { up: fileComments },
    '0010-failed-tests': { up: database => failedTests(database, dialect) },
    '0011-builds-by-worker': { up: buildsByWorker },
    '0012-passed-tests': { up: database => passedTests(database, dialect) },
  };
}

/**
 * Several processes may do this at the same time: the first upgrades, the others find it upgraded. A database of this version is only
 * read, so that opening it waits for no process that writes to it.
 *
 * @param place of the database, for the message.
 * @throws Error saying what to do when it cannot be brought to this version.
 */
export async function migrate<Tables>(
  database: Kysely<Tables>,
  dialect: Dialect,
  place: string,
): Promise<void> {
  const provider = { getMigrations: async () => migrations(dialect) };
  const migrator = new Migrator({ db: database, provider });
  let error: unknown;
  // Of two processes that begin at the same time one may fail, and then finds it upgraded.
  for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
    error = await upgrade(database, dialect, migrator);
    if (error === undefined) return;
  }
  const reason = error instanceof Error ? error.message : String(error);
  throw new Error(
    `the history database ${place} cannot be used by this version: ${reason}. Start the version that wrote it, or name another one in [database] dburi`,
    { cause: error },
  );
}

/** @returns the error; undefined: the database is of this version. */
async function upgrade<Tables>(
  database: Kysely<Tables>,
  dialect: Dialect,
  migrator: Migrator,
): Promise<unknown> {
  try {
    if ((await versionOf(database, dialect)) === 'this') return undefined;
  } catch (error) {
    return error;
  }
  return (await migrator.migrateToLatest()).error;
}

/**
 * For read-only use, which changes nothing, tables included.
 *
 * @returns undefined: the database is of this version; otherwise a sentence with its version and the remedy.
 */
export async function refuseOtherVersion<Tables>(
  database: Kysely<Tables>,
  dialect: Dialect,
  place: string,
): Promise<string | undefined> {
  const version = await versionOf(database, dialect);
  switch (version) {
    case 'this':
      return undefined;
    case 'none':
      return `${place} is no history database of Gatehouse`;
    case 'newer':
      return `the history database ${place} was written by a newer version; use the gatehouse that wrote it`;
    case 'older':
      return `the history database ${place} was written by an older version; start the service of this version once, which brings it up to date, or use the gatehouse that wrote it`;
  }
}

/** By the steps that a database has taken. `none`: it has none of our tables. */
async function versionOf<Tables>(
  database: Kysely<Tables>,
  dialect: Dialect,
): Promise<'none' | 'older' | 'this' | 'newer'> {
  const tables = await database.introspection.getTables({ withInternalKyselyTables: true });
  if (!tables.some(table => table.name === MIGRATIONS)) return 'none';
  const { rows: taken } = await sql<{ name: string }>`select name from ${sql.table(MIGRATIONS)}`.execute(
    database,
  );
  const known = new Set(Object.keys(migrations(dialect)));
  if (taken.some(({ name }) => !known.has(name))) return 'newer';
  return taken.length < known.size ? 'older' : 'this';
}

/** Where Kysely records the steps a database has taken. */
const MIGRATIONS = 'kysely_migration';

async function first(database: AnyDatabase, dialect: Dialect): Promise<void> {
  const id = numbered(dialect);
  await sql`create table item (
    ${id}, uuid text not null unique, tenant text not null, pipeline text not null,
    result text not null, reason text not null, resets integer not null, enqueued_at text not null, left_at text not null,
    document text not null)`.execute(database);
  await sql`create index item_by_tenant on item (tenant, id)`.execute(database);

  await sql`create table buildset (
    ${id}, uuid text not null unique, tenant text not null, pipeline text not null,
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
    ${id}, uuid text not null unique,
    buildset_id integer not null references buildset (id) on delete cascade, job_name text not null,
    attempt integer not null, voting integer not null, final integer not null, result text, requested_at text not null,
    start_time text, end_time text, worker text, error_detail text, cause text)`.execute(database);
  await sql`create index build_by_buildset on build (buildset_id)`.execute(database);
  await sql`create index build_by_job on build (job_name, result, id)`.execute(database);

  await sql`create table decision (
    ${id}, digest text not null unique, tenant text not null, project_key text not null,
    project text not null, change_key text not null, change_id text not null, at text not null, document text not null)`.execute(
    database,
  );
  await sql`create index decision_by_change on decision (tenant, change_id, at)`.execute(database);
}

/** Lets two webs find out whether they use the same database. */
async function identity(database: AnyDatabase): Promise<void> {
  await sql`create table identity (id text not null)`.execute(database);
  await sql`insert into identity (id) values (${randomUUID()})`.execute(database);
}

/** Records the installation whose spans the items gave: a repeated export must give the same bytes. */
async function installation(database: AnyDatabase): Promise<void> {
  await sql`alter table identity add column installation text`.execute(database);
}

/** Builds filled in by one statement: a server may limit the time of each. */
const BUILDS_AT_ONCE = 20_000;

/** The newest builds of a tenant must be found without reading those of others. */
async function tenantOfBuilds(database: AnyDatabase): Promise<void> {
  await sql`alter table build add column tenant text not null default ''`.execute(database);
  const { rows } = await sql<{ readonly last: number | null }>`select max(id) as last from build`.execute(
    database,
  );
  const last = rows[0]?.last ?? 0;
  for (let from = 0; from < last; from += BUILDS_AT_ONCE) {
    await sql`update build set tenant = (select buildset.tenant from buildset where buildset.id = build.buildset_id)
      where id > ${from} and id <= ${from + BUILDS_AT_ONCE}`.execute(database);
  }
  await sql`create index build_by_tenant on build (tenant, id)`.execute(database);
  await sql`create index build_by_tenant_result on build (tenant, result, id)`.execute(database);
  await sql`create index build_by_tenant_job on build (tenant, job_name, id)`.execute(database);
  await sql`create index buildset_by_tenant_result on buildset (tenant, result, id)`.execute(database);
  await sql`create index decision_by_key on decision (tenant, change_key, at)`.execute(database);
}

/** Traces of events, requests and passes; those of items are drawn from the items' documents. */
async function traces(database: AnyDatabase, dialect: Dialect): Promise<void> {
  await sql`create table trace (
    ${numbered(dialect)}, digest text not null unique, trace_id text not null, ended_at text not null,
    document text not null)`.execute(database);
  await sql`create index trace_by_trace on trace (trace_id)`.execute(database);
}

/** What a build returned that its clients look for. */
async function returnedData(database: AnyDatabase): Promise<void> {
  await sql`alter table build add column log_url text`.execute(database);
  await sql`alter table build add column artifacts text`.execute(database);
}

async function provided(database: AnyDatabase): Promise<void> {
  await sql`alter table build add column provides text`.execute(database);
}

async function warnings(database: AnyDatabase): Promise<void> {
  await sql`alter table build add column warnings text`.execute(database);
}

async function fileComments(database: AnyDatabase): Promise<void> {
  await sql`alter table build add column file_comments text`.execute(database);
}

/** Whether a test failed elsewhere lately is one query of the index for each. */
async function failedTests(database: AnyDatabase, dialect: Dialect): Promise<void> {
  await sql`create table failed_test (
    ${numbered(dialect)}, build_id integer not null references build (id) on delete cascade, tenant text not null,
    test_key text not null, change_key text not null, at text not null)`.execute(database);
  await sql`create index failed_test_by_key on failed_test (tenant, test_key, at)`.execute(database);
  await sql`create index failed_test_by_build on failed_test (build_id)`.execute(database);
}

/** What one executor did last, without reading what the others did. */
async function buildsByWorker(database: AnyDatabase): Promise<void> {
  await sql`create index build_by_tenant_worker on build (tenant, worker, id)`.execute(database);
}

/** Of tests that failed lately: how many of their runs did. */
async function passedTests(database: AnyDatabase, dialect: Dialect): Promise<void> {
  await sql`create table passed_test (
    ${numbered(dialect)}, build_id integer not null references build (id) on delete cascade, tenant text not null,
    test_key text not null, change_key text not null, at text not null)`.execute(database);
  await sql`create index passed_test_by_key on passed_test (tenant, test_key, at)`.execute(database);
  await sql`create index passed_test_by_change on passed_test (tenant, test_key, change_key, at)`.execute(
    database,
  );
  await sql`create index passed_test_by_build on passed_test (build_id)`.execute(database);
}

function numbered(dialect: Dialect) {
  return sql.raw(
    dialect === 'sqlite'
      ? 'id integer primary key autoincrement'
      : 'id integer primary key generated by default as identity',
  );
}
