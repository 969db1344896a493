/** Keys of projects leave an installation and come into another one by files of Zuul's format. */
import { mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runProgram } from '../../../src/cmd/commands/program.ts';
import { openEmbeddedStore } from '../../../src/store/embedded/server.ts';
import { readZuulKeys } from '../../../src/store/keystore/zuul-keys.ts';
import { create } from '../../../src/store/port.ts';
import { KEYSTORE_PASSWORD, ZUUL_KEYS } from '../../fake/project-keys.ts';
import { recordingIo } from './fixture.ts';

let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'gatehouse-keys-'));
  await writeFile(path.join(folder, 'of-zuul.json'), ZUUL_KEYS);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Settings of an installation with a store of its own, which has run once. */
async function site(name: string): Promise<string> {
  await mkdir(path.join(folder, name), { recursive: true });
  const file = path.join(folder, `${name}.conf`);
  const text = `[scheduler]\ntenant_config = tenants.yaml\nstate_dir = ${folder}/${name}\n[keystore]\npassword = ${KEYSTORE_PASSWORD.reveal()}\n`;
  await writeFile(file, text, { mode: 0o600 });
  await using server = openEmbeddedStore({ file: path.join(folder, name, 'store.sqlite') });
  await server.connect().multi([create('/gatehouse')]);
  return file;
}

async function run(...args: readonly string[]) {
  const io = recordingIo();
  const status = await runProgram(args, io);
  return { status, out: io.out(), err: io.err() };
}

const inFolder = (name: string) => path.join(folder, name);

/** Project and private keys, in the order of the file. */
function contentOf(text: string) {
  const read = readZuulKeys(text, KEYSTORE_PASSWORD);
  if (read.kind === 'invalid') throw new Error(read.text);
  return read.projects.map(({ project, keys }) => ({
    project,
    secrets: keys.secrets?.key.export({ format: 'jwk' }),
    ssh: keys.ssh?.key.export({ format: 'jwk' }),
  }));
}

test('keys come from a file of Zuul, stay when they come again, and leave in the same form', async () => {
  const conf = await site('whole');
  const given = inFolder('of-zuul.json');
  expect(await run('import-keys', given, '-c', conf)).toMatchObject({
    status: 0,
    out: 'imported 2 keys of 1 projects\n',
  });
  const again = await run('import-keys', given, '-c', conf);
  expect(again).toMatchObject({ status: 0, out: 'imported 0 keys of 1 projects\n' });
  expect(again.err).toContain('local/org/project has a secrets key already; --force replaces it');
  await writeFile(inFolder('password'), 'another\n');
  expect((await run('import-keys', given, '--password-file', inFolder('password'), '-c', conf)).status).toBe(
    1,
  );
  expect((await run('copy-keys', 'local', 'org/project', 'local', 'org/renamed', '-c', conf)).status).toBe(0);
  expect((await run('delete-keys', 'local', 'org/project', '-c', conf)).status).toBe(0);
  const file = inFolder('exported.json');
  expect((await run('export-keys', file, '-c', conf)).out).toBe(
    `exported the keys of 1 projects to ${file}\n`,
  );
  const text = await readFile(file, 'utf8');
  expect(contentOf(text)).toEqual([{ ...contentOf(ZUUL_KEYS)[0], project: 'local/org/renamed' }]);
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  expect((await run('export-keys', file, '-c', conf)).err).toContain('cannot be written');
  expect(await readFile(file, 'utf8')).toBe(text);
});
