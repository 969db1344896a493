/** `gatehouse store` over embedded stores: what it writes, what it refuses, and what it takes back. */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runProgram } from '../../../src/cmd/commands/program.ts';
import { openEmbeddedStore } from '../../../src/store/embedded/server.ts';
import type { Store } from '../../../src/store/port.ts';
import { everything, plantTree } from '../store/planted-tree.ts';
import { recordingIo } from './fixture.ts';

let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'gatehouse-store-'));
  await inStore('full', store => plantTree(store, '/gatehouse', 200));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function inStore<T>(name: string, look: (store: Store) => Promise<T>): Promise<T> {
  await mkdir(path.join(folder, name), { recursive: true });
  await using server = openEmbeddedStore({ file: path.join(folder, name, 'store.sqlite') });
  return await look(server.connect());
}

async function confOf(name: string, more = ''): Promise<string> {
  const file = path.join(folder, `${name}.conf`);
  await writeFile(
    file,
    `[scheduler]\ntenant_config = tenants.yaml\nstate_dir = ${folder}/${name}\n${more}\n[connection local]\ndriver = git\nbaseurl = ${folder}\n`,
  );
  return file;
}

async function run(input: string | undefined, ...args: readonly string[]) {
  const io = recordingIo();
  const bytes = Buffer.from(input ?? '');
  const stdin = async function* () {
    for (let at = 0; at < bytes.length; at += 10_007) yield bytes.subarray(at, at + 10_007);
  };
  const status = await runProgram(['store', ...args], { ...io, stdin });
  return { status, out: io.out(), err: io.err() };
}

test('a dump restored elsewhere is the same tree', async () => {
  const dumped = await run(undefined, 'dump', '-c', await confOf('full'));
  expect(dumped.status, dumped.err).toBe(0);
  expect(dumped.err).toMatch(/ 1 {2}layout\n +\d+ {2}other nodes\n/);
  const restored = await run(dumped.out, 'restore', '-c', await confOf('restored'));
  expect(restored.status, restored.err).toBe(0);
  expect(restored.out).toContain('as it was at 2026-11-20T18:00:00.000Z');
  const look = (store: Store) => everything(store, '/gatehouse');
  expect(await inStore('restored', look)).toEqual(await inStore('full', look));
});

test('a dump that is cut short leaves nothing behind', async () => {
  const dumped = await run(undefined, 'dump', '-c', await confOf('full'));
  const short = dumped.out.slice(0, dumped.out.lastIndexOf('{"end"'));
  const restored = await run(short, 'restore', '-c', await confOf('short'));
  expect(restored).toMatchObject({ status: 1, out: '' });
  expect(restored.err).toMatch(/^error: the dump is cut short after line \d+; use another one\n$/);
  expect(await inStore('short', store => store.children('/gatehouse'))).toEqual([]);
});

test('nothing is written where something is, or below another root', async () => {
  const full = await confOf('full');
  const dumped = await run(undefined, 'dump', '-c', full);
  const other = await run(dumped.out, 'restore', '-c', await confOf('other', '[store]\nroot = /other'));
  expect(other).toMatchObject({ status: 1, out: '' });
  expect(other.err).toContain('set root = /gatehouse there');
  const over = await run(dumped.out, 'restore', '-c', full);
  expect(over).toMatchObject({ status: 1, out: '' });
  expect(over.err).toContain('already has blobs, components, outbox, … below /gatehouse');
});
