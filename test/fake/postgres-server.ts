/** A PostgreSQL server for tests: the real database, compiled to WebAssembly, behind its real wire protocol. */
import { createServer } from 'node:net';
import { PGlite } from '@electric-sql/pglite';
import { PGLiteSocketServer } from '@electric-sql/pglite-socket';

export interface PostgresServer extends AsyncDisposable {
  readonly uri: string;
  /** Empties the database. */
  clear(): Promise<void>;
}

export async function startPostgres(): Promise<PostgresServer> {
  const database = await PGlite.create();
  const port = await freePort();
  const server = new PGLiteSocketServer({ db: database, host: '127.0.0.1', port, maxConnections: 20 });
  await server.start();
  return {
    uri: `postgresql://postgres:secret@127.0.0.1:${port}/postgres?sslmode=disable`,
    async clear() {
      await database.exec('drop schema public cascade; create schema public');
    },
    async [Symbol.asyncDispose]() {
      await server.stop();
      await database.close();
    },
  };
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise(resolve => server.close(resolve));
  if (address === null || typeof address === 'string') throw new Error('no free port');
  return address.port;
}
