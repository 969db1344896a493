/** Kysely's PostgreSQL dialect over `pg`, with limits on every wait: a database that hangs must not hang the page. */
import { PostgresDialect } from 'kysely';
import pg from 'pg';

/** Milliseconds to reach the server, or to get one of our own connections. */
const CONNECT_LIMIT = 5_000;
/** Milliseconds per statement: of a service, and of an upgrade step, which may fill an index of 10^7 rows. */
const STATEMENT_LIMIT = 30_000;
const STEP_LIMIT = 3_600_000;
/** Connections per process: one writes, the others answer queries. */
const CONNECTIONS = 8;

/**
 * @param uri `postgresql://user:password@host:port/database?sslmode=...`
 * @param onIdleError called when the server drops an idle connection; the next query opens another.
 * @param access `read`: the server itself refuses changes; `migrate`: statements may take an hour.
 */
export function postgresDialect(
  uri: string,
  onIdleError: (error: Error) => void,
  access: 'write' | 'read' | 'migrate' = 'write',
): PostgresDialect {
  const limit = access === 'migrate' ? STEP_LIMIT : STATEMENT_LIMIT;
  const pool = new pg.Pool({
    connectionString: uri,
    max: CONNECTIONS,
    connectionTimeoutMillis: CONNECT_LIMIT,
    query_timeout: limit,
    statement_timeout: limit,
    application_name: 'gatehouse',
    ...(access === 'read' ? { options: '-c default_transaction_read_only=on' } : {}),
  });
  pool.on('error', onIdleError);
  return new PostgresDialect({ pool });
}
