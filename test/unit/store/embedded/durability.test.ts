import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readlinkSync } from 'node:fs';
import { mkdtemp, readFile, realpath, rm, stat, statfs, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { openJournal } from '../../../../src/store/embedded/journal.ts';
import { type EmbeddedStore, openEmbeddedStore } from '../../../../src/store/embedded/server.ts';
import { NodeTree } from '../../../../src/store/embedded/tree.ts';
import { create, remove, set } from '../../../../src/store/port.ts';

const WRITER = join(import.meta.dirname, 'writer-process.ts');
const NOTHING = new Uint8Array(0);

let folder: string;
let file: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gatehouse-store-'));
  file = join(folder, 'store.db');
});
afterEach(async () => {
  await rm(folder, { recursive: true });
});

interface Line {
  readonly ready?: readonly string[];
  readonly made?: string;
  readonly counter?: number;
  readonly pair?: number;
  readonly failed?: string;
  readonly children?: number;
}

/** Runs the writer until `enough` says so, kills it as hard as possible, and returns all it said. */
async function writeAndKill(outstanding: number, enough: number): Promise<readonly Line[]> {
  const child = spawn(process.execPath, [WRITER, file, String(outstanding)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const lines: Line[] = [];
  for await (const line of createInterface({ input: child.stdout })) {
    lines.push(parse(line));
    if (lines.length === enough) child.kill('SIGKILL');
  }
  await ended(child);
  return lines.filter(line => Object.keys(line).length > 0);
}

const parse = (line: string): Line => {
  try {
    return JSON.parse(line);
  } catch {
    return {}; // cut off by the kill
  }
};

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
}

describe('a store process that is killed', () => {
  test.each([1, 64])(
    'with %i writes outstanding leaves all it acknowledged, whole, and no ephemerals',
    async outstanding => {
      const acknowledged = new Set<string>();
      let highest = '';
      for (const enough of [40, 400, 150]) {
        const lines = await writeAndKill(outstanding, enough);
        expect(lines[0]?.ready).toContain('alive');
        expect(lines[0]?.ready?.filter(name => name.startsWith('e-'))).toEqual([]);
        for (const { made } of lines.slice(1)) {
          expect(acknowledged.has(made ?? '')).toBe(false);
          expect((made ?? '') > highest, 'numbers go on where they were').toBe(true);
          acknowledged.add(made ?? '');
        }
        highest = [...acknowledged].toSorted().at(-1) ?? '';

        const server = openEmbeddedStore({ file });
        const store = server.connect();
        const names = (await store.children('/w')) ?? [];
        expect(names.filter(name => name === 'alive' || name.startsWith('e-'))).toEqual([]);
        expect(names.map(name => `/w/${name}`)).toEqual(expect.arrayContaining([...acknowledged]));
        const [counter, pair] = await store.getMany(['/w/counter', '/w/pair']);
        expect(counter?.stat.version, 'a multi is there whole').toBe(pair?.stat.version);
        const made = names.filter(name => name.startsWith('n-'));
        expect(counter?.stat.version).toBe(made.length);
        highest = `/w/${made.at(-1)}` > highest ? `/w/${made.at(-1)}` : highest;
        await server.close();
      }
    },
  );

  test('whose disk is full rejects its writes as unknown, keeps reading, and shows none of them after a restart', async () => {
    const limited = spawn(
      'sh',
      ['-c', `ulimit -f 1500; exec "${process.execPath}" "${WRITER}" "${file}" 8`],
      {
        stdio: ['ignore', 'pipe', 'inherit'],
      },
    );
    const lines: Line[] = [];
    for await (const line of createInterface({ input: limited.stdout })) lines.push(parse(line));
    await ended(limited);
    const last = lines.at(-1);
    expect(last?.failed).toBe('ConnectionLoss');
    const made = lines.flatMap(line => line.made ?? []);
    expect(made.length).toBeGreaterThan(100);

    await using server = openEmbeddedStore({ file });
    const store = server.connect();
    const names = (await store.children('/w'))?.filter(name => name.startsWith('n-'));
    expect(names?.map(name => `/w/${name}`)).toEqual(made);
    expect((await store.get('/w/counter'))?.stat.version).toBe(made.length);
  });
});

describe('a write', () => {
  test('is answered when the disk has the log that SQLite wrote', async () => {
    const flushed: string[] = [];
    const flushing = Promise.withResolvers<void>();
    await using server = openEmbeddedStore({
      file,
      openJournal: (name, tree) =>
        openJournal(name, tree, handle => {
          flushed.push(readlinkSync(`/proc/self/fd/${handle}`));
          return flushing.promise;
        }),
    });
    const store = server.connect();
    const written = store.multi([create('/a', Buffer.from('durable'))]);
    const log = `${await realpath(folder)}/${basename(file)}-wal`;
    await vi.waitFor(() => expect(flushed).toEqual([log]));
    expect((await readFile(`${file}-wal`)).includes('durable')).toBe(true);
    flushing.resolve();
    await written;
  });

  test('that was not flushed is unknown, and nothing is written behind it until the file is opened again', async () => {
    let flushes = 0;
    let server = openEmbeddedStore({
      file,
      openJournal: (name, tree) =>
        openJournal(name, tree, async () => {
          flushes += 1;
          if (flushes === 2) throw new Error('EIO: i/o error, fdatasync');
        }),
    });
    let store = server.connect();
    await store.multi([create('/a')]);
    const lost = { code: 'ConnectionLoss', cause: { message: expect.stringContaining('did not keep') } };
    await expect(store.multi([create('/b')])).rejects.toMatchObject(lost);
    await expect(store.multi([create('/c')])).rejects.toMatchObject(lost);
    await expect(store.sync()).rejects.toMatchObject(lost);
    expect(flushes).toBe(2);
    await server.close();

    server = openEmbeddedStore({ file });
    store = server.connect();
    // The file had the second: the disk of this test is well.
    expect(await store.children('/')).toEqual(['a', 'b']);
    await server.close();
  });

  test('is awaited, but not in a file system that is in memory', async () => {
    const tmpfs = 0x01021994;
    const isInMemory = (await statfs(folder)).type === tmpfs;
    const journal = openJournal(file, new NodeTree());
    const committing = journal.commit({ nodes: new Map(), sequences: new Set() });
    expect(committing === undefined).toBe(isInMemory);
    await committing;
    journal.close();
  });

  test('goes into the log that is flushed, however often the log begins anew', async () => {
    await using server = openEmbeddedStore({ file });
    const store = server.connect();
    const before = await stat(`${file}-wal`);
    await store.multi([create('/a')]);
    // SQLite empties the log after four megabytes.
    for (let round = 0; round < 8; round++) await store.multi([set('/a', Buffer.alloc(900_000, round))]);
    expect((await stat(`${file}-wal`)).ino).toBe(before.ino);
    expect((await stat(file)).size).toBeGreaterThan(900_000);
  });
});

describe('a store file', () => {
  const reopen = async (server: EmbeddedStore): Promise<EmbeddedStore> => {
    await server.close();
    return openEmbeddedStore({ file });
  };

  test('keeps data, versions, transactions and sequences over a restart; ephemerals vanish', async () => {
    let server = openEmbeddedStore({ file });
    let store = server.connect();
    await store.multi([
      create('/a', new Uint8Array([0, 255])),
      create('/a/b'),
      set('/a', new Uint8Array([1])),
      set('/', NOTHING),
    ]);
    await store.multi([create('/top-', NOTHING, { sequential: true, ephemeral: true })]);
    const [eph] = await store.multi([create('/a/', NOTHING, { sequential: true, ephemeral: true })]);
    const before = await store.get('/a');
    const session = store.sessionId;

    server = await reopen(server);
    store = server.connect();
    expect(await store.children('/')).toEqual(['a']);
    expect(await store.children('/a')).toEqual(['b']);
    const after = await store.get('/a');
    expect(after?.data).toEqual(new Uint8Array([1]));
    expect(after?.stat).toEqual({ ...before?.stat, childCount: 1 });
    expect((await store.get('/'))?.stat.version).toBe(1);
    expect(store.sessionId).not.toBe(session);
    const [next] = await store.multi([create('/a/', NOTHING, { sequential: true })]);
    expect((next?.path ?? '') > (eph?.path ?? '')).toBe(true);
    const [top] = await store.multi([create('/top-', NOTHING, { sequential: true })]);
    expect(top?.path).toBe('/top-0000000002');
    const stat = (await store.get(next?.path ?? ''))?.stat;
    expect((stat?.createdTransaction ?? 0n) > (before?.stat.modifiedTransaction ?? 0n)).toBe(true);
    await server.close();
  });

  test('forgets a deleted tree, also when it is made and deleted before it is written', async () => {
    let server = openEmbeddedStore({ file });
    const store = server.connect();
    await store.multi([create('/a'), create('/a/b')]);
    await Promise.all([
      store.multi([remove('/a/b'), remove('/a')]),
      store.multi([create('/c'), create('/c/d'), remove('/c/d'), remove('/c')]),
      store.multi([create('/a', NOTHING, { ephemeral: true })]),
    ]);
    server = await reopen(server);
    expect(await server.connect().children('/')).toEqual([]);
    await server.close();
  });

  test('is for its owner only', async () => {
    await using server = openEmbeddedStore({ file });
    await server.connect().multi([create('/a')]);
    for (const name of [file, `${file}-wal`]) expect((await stat(name)).mode & 0o077).toBe(0);
  });

  test('that another store has open is refused with advice, and left alone', async () => {
    await using server = openEmbeddedStore({ file });
    const store = server.connect();
    await store.multi([create('/a')]);
    expect(() => openEmbeddedStore({ file })).toThrow(
      `store file ${file}: it is in use by another process: stop that one, or give this one a file of its own`,
    );
    await store.multi([create('/b')]);
    expect(await store.children('/')).toEqual(['a', 'b']);
  });

  test('that another process has open is refused until that process is gone', async () => {
    const child = spawn(process.execPath, [WRITER, file, '1'], { stdio: ['ignore', 'pipe', 'inherit'] });
    await once(child.stdout, 'data');
    expect(() => openEmbeddedStore({ file })).toThrow('in use by another process');
    child.kill('SIGKILL');
    await ended(child);
    await openEmbeddedStore({ file }).close();
  });

  test('that is no store is refused and says why', async () => {
    await writeFile(file, 'not a database, but long enough to have a header of its own '.repeat(4));
    expect(() => openEmbeddedStore({ file })).toThrow(/store file .*: file is not a database/);
    const { DatabaseSync } = await import('node:sqlite');
    const foreign = join(folder, 'foreign.db');
    new DatabaseSync(foreign).exec('CREATE TABLE t (x)');
    expect(() => openEmbeddedStore({ file: foreign })).toThrow('a database, but not a Gatehouse store');
    expect(() => openEmbeddedStore({ file: join(folder, 'none', 'store.db') })).toThrow('ENOENT');
  });

  test('of a newer format is refused', async () => {
    await openEmbeddedStore({ file }).close();
    const { DatabaseSync } = await import('node:sqlite');
    const db = new DatabaseSync(file);
    db.exec('PRAGMA user_version = 2');
    db.close();
    expect(() => openEmbeddedStore({ file })).toThrow('format 2, this version reads 1');
  });
});
