/** `npm run quickstart -- --gerrit` at a real Gerrit that runs on: twice, since people try it again. */
import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { askWell } from './account.ts';
import { type GerritOfTests, startGerrit } from './start-gerrit.ts';

const MAIN = path.resolve(import.meta.dirname, '../../../src/cmd/main.ts');
/** Milliseconds. */
const LIMIT = 600_000;

let gerrit: GerritOfTests;
let folder: string;
const stack = new AsyncDisposableStack();
beforeAll(async () => {
  gerrit = stack.use(await startGerrit({ projects: [] }));
  folder = await mkdtemp(path.join(tmpdir(), 'gatehouse-quickstart-gerrit-'));
  stack.defer(() => rm(folder, { recursive: true, force: true }));
});
afterAll(() => stack.disposeAsync());

test('gates six changes at a given Gerrit, again the second time', { timeout: 2 * LIMIT }, async () => {
  for (const run of ['first', 'second']) {
    const report = path.join(folder, `${run}.json`);
    const { code, output } = await quickstart(path.join(folder, run), report);
    expect(code, output).toBe(0);
    expect(output).toMatch(/acme\/app \d+ +✓ merged .*Verified \+2/);
    const { changes } = JSON.parse(await readFile(report, 'utf8'));
    expect(changes.map(({ merged }: { readonly merged: boolean }) => merged)).toEqual([
      ...[true, true, false, true, false, true],
    ]);
  }
});

test('leaves a project alone that it did not make', { timeout: LIMIT }, async () => {
  const place = 'projects/acme%2Fapi/description';
  await askWell(gerrit.ask, gerrit.admin, 'PUT', place, { description: 'Ours' });
  const { code, output } = await quickstart(path.join(folder, 'third'), path.join(folder, 'third.json'));
  expect(code).not.toBe(0);
  expect(output).toContain('this Gerrit has a project acme/api that the quickstart did not make');
});

async function quickstart(directory: string, report: string) {
  const { url, ssh, admin } = gerrit;
  const args = ['--gerrit', '--once', '--json', report, '--directory', directory];
  const child = spawn(process.execPath, [MAIN, 'quickstart', ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: LIMIT,
    env: {
      ...process.env,
      GERRIT_WAR: '',
      GERRIT_URL: url,
      GERRIT_SSH: `${ssh.host}:${ssh.port}`,
      GERRIT_ADMIN: `${admin.username}:${admin.password}`,
    },
  });
  const ended = new Promise<number | null>(resolve => child.once('close', resolve));
  const [out, err, code] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
  return { code, output: `${out}${err}` };
}
