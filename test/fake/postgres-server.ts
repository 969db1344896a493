/**
 * A PostgreSQL server for tests: the real database, compiled to WebAssembly, behind its real wire protocol.
 *
 * It has one session, which its connections use in turns: a turn is a simple query, or the messages up to a Sync. Other clients never come between,
 * since after an error the session ignores everything until that Sync. A transaction keeps the session until its end. Session locks hold up
 * no other connection, as all are one session to them.
 */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { createServer, type Server, type Socket } from 'node:net';
import path from 'node:path';
import { PGlite } from '@electric-sql/pglite';

export interface PostgresServer extends AsyncDisposable {
  readonly uri: string;
  /** Empties the database. */
  clear(): Promise<void>;
}

const MODULES = path.resolve(import.meta.dirname, '../../node_modules');
const { version } = JSON.parse(readFileSync(path.join(MODULES, '@electric-sql/pglite/package.json'), 'utf8'));
const EMPTY = path.join(MODULES, `.cache/pglite-${version}.tar`);

export async function startPostgres(): Promise<PostgresServer> {
  const database = await emptyDatabase();
  const session = new SharedSession(database);
  const sockets = new Set<Socket>();
  const server = createServer(socket => {
    sockets.add(socket);
    serve(socket, session);
    socket.once('close', () => sockets.delete(socket));
  });
  const port = await listen(server);
  return {
    uri: `postgresql://postgres:secret@127.0.0.1:${port}/postgres?sslmode=disable`,
    clear: () => session.use({}, () => database.exec('drop schema public cascade; create schema public')),
    async [Symbol.asyncDispose]() {
      const gone = [...sockets].map(socket => once(socket, 'close'));
      const closed = new Promise(resolve => server.close(resolve));
      for (const socket of sockets) socket.destroy();
      await Promise.all([...gone, closed]);
      // After what the sockets left to do.
      await session.use({}, async () => {});
      await database.close();
    },
  };
}

/** Kept between runs: to make one takes four seconds of processor time, to load it one. */
async function emptyDatabase(): Promise<PGlite> {
  const kept = await readFile(EMPTY).catch(() => undefined);
  if (kept !== undefined) return PGlite.create({ loadDataDir: new Blob([kept]) });
  const database = await PGlite.create();
  const files = await database.dumpDataDir('none');
  await mkdir(path.dirname(EMPTY), { recursive: true });
  // Other processes may make it, too.
  const own = `${EMPTY}.${process.pid}`;
  await writeFile(own, new Uint8Array(await files.arrayBuffer()));
  await rename(own, EMPTY);
  return database;
}

/** Puts the messages of a client together to turns. */
function serve(socket: Socket, session: SharedSession): void {
  let received = Buffer.alloc(0);
  let started = false;
  let turn: Buffer[] = [];
  socket.setNoDelay(true);
  // A client that goes amid a query resets the connection; 'close' follows.
  socket.on('error', () => {});
  socket.once('close', () => session.leave(socket));
  socket.on('data', data => {
    received = Buffer.concat([received, data]);
    for (;;) {
      // The first message, of the start, has no byte that names its kind.
      const kind = started ? received.toString('latin1', 0, 1) : '';
      if (received.length < kind.length + 4) return;
      const length = kind.length + received.readUInt32BE(kind.length);
      if (received.length < length) return;
      turn.push(received.subarray(0, length));
      received = received.subarray(length);
      started = true;
      if (kind === 'X') {
        socket.end();
        return;
      }
      if (kind === '' || kind === 'Q' || kind === 'S') {
        session.answer(socket, turn);
        turn = [];
      }
    }
  });
}

/** The one session of the database. */
class SharedSession {
  readonly #database: PGlite;
  readonly #waiting: { readonly client: object; readonly work: () => Promise<unknown> }[] = [];
  /** The client whose transaction is open. */
  #holder: object | undefined;
  #running = false;

  constructor(database: PGlite) {
    this.#database = database;
  }

  /** Runs work when no transaction of another client is open. */
  async use(client: object, work: () => Promise<unknown>): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      this.#waiting.push({ client, work: () => work().then(() => resolve(), reject) });
      void this.#run();
    });
  }

  answer(socket: Socket, turn: readonly Buffer[]): void {
    const onRawData = (data: Uint8Array) => {
      // The database uses its memory again.
      if (socket.writable) socket.write(Buffer.from(data));
    };
    this.use(socket, async () => {
      for (const message of turn) await this.#database.execProtocolRawStream(message, { onRawData });
    }).catch((error: Error) => socket.destroy(error));
  }

  /** What the client asked before still runs; a transaction that it left open is undone. */
  leave(client: object): void {
    void this.use(client, async () => {
      if (this.#holder === client) await this.#database.exec('rollback');
    });
  }

  async #run(): Promise<void> {
    if (this.#running) return;
    this.#running = true;
    for (;;) {
      const next = this.#waiting.findIndex(
        ({ client }) => this.#holder === undefined || client === this.#holder,
      );
      const [turn] = next === -1 ? [] : this.#waiting.splice(next, 1);
      if (turn === undefined) break;
      await turn.work();
      this.#holder = this.#database.isInTransaction() ? turn.client : undefined;
    }
    this.#running = false;
  }
}

async function listen(server: Server): Promise<number> {
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('a server without a port');
  return address.port;
}
