/** `npm run compat`, on a source tree of a few files in the form of Zuul's. */
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, expect, test } from 'vitest';

const MAIN = path.resolve(import.meta.dirname, '../../compat/main.ts');
const run = promisify(execFile);

const SETTINGS = '[connection gerrit]\ndriver=gerrit\nserver=review.example.com\n';
const MAIN_YAML = `
- tenant:
    name: one
    source:
      gerrit:
        config-projects: [org/config]
        untrusted-projects: [org/app]
`;
const PIPELINE = `
- pipeline:
    name: check
    manager: independent
    trigger: {gerrit: [{event: patchset-created}]}
    success: {gerrit: {Verified: 1}}
- job: {name: base, parent: null, run: run.yaml}
- project: {name: org/app, check: {jobs: [base]}}
`;

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'gatehouse-compat-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

async function write(name: string, text: string): Promise<void> {
  const file = path.join(folder, 'tests/fixtures', name);
  await mkdir(path.dirname(file), { recursive: true });
  await writeFile(file, text);
}

test('counts what loads with our drivers and with any, and gives the reason of each refusal', async () => {
  await write('zuul.conf', SETTINGS);
  await write('config/good/main.yaml', MAIN_YAML);
  await write('config/good/git/org_config/zuul.yaml', PIPELINE);
  await write('config/bad/main.yaml', MAIN_YAML);
  await write('config/bad/git/org_config/zuul.yaml', PIPELINE);
  await write('config/bad/git/org_app/.zuul.d/a.yaml', '- job: {name: unit, parent: bas}\n');
  await write('config/none/git/org_app/README', '');
  await write('layouts/simple.yaml', PIPELINE);
  await write('layouts/pagure.yaml', PIPELINE.replaceAll('gerrit:', 'pagure:'));
  const { stdout } = await run(process.execPath, [MAIN, '--zuul', folder]);
  expect(stdout.split('\n')).toEqual([
    'refused config/bad/main.yaml one: gerrit/org/app@master:.zuul.d/a.yaml:1:21: Job bas not defined, did you mean "base"?',
    expect.stringContaining(
      'refused layouts/pagure.yaml: layouts/pagure.yaml:1:44: no connection is called "pagure"',
    ),
    'tenants: loaded 1 of 2, 1 with stub drivers',
    'single layouts: loaded 1 of 2, 2 with stub drivers',
    '',
  ]);
});

test('refuses a folder that is no source tree of Zuul', async () => {
  const ended = run(process.execPath, [MAIN, '--zuul', folder]);
  await expect(ended).rejects.toMatchObject({
    code: 1,
    stderr: `${folder} is no source tree of Zuul: it has no tests/fixtures/config\n`,
  });
});
