/** `gatehouse run` in real checkouts, with a real executor that isolates nothing. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { runProgram } from '../../../src/cmd/commands/program.ts';
import { systemClock } from '../../../src/lib/clock.ts';
import { encryptOaep } from '../../../src/lib/pkcs1-oaep.ts';
import { PUBLIC_KEY } from '../../fake/project-keys.ts';
import { recordingIo } from './fixture.ts';

let directory: string;
let app: string;
/** The commit that each test begins with. */
let begin: string;

beforeAll(() => {
  directory = mkdtempSync(path.join(tmpdir(), 'gatehouse-run-test-'));
  app = path.join(directory, 'work/app');
  const [chunk = ''] = encryptOaep('not for here', PUBLIC_KEY);
  repository('work/lib', { 'lib.txt': 'the library' });
  repository('hosted/acme/config', {
    '.zuul.yaml': `
- pipeline: {name: check, manager: independent, trigger: {local: [{event: proposed}]}}
- job: {name: base, parent: null, pre-run: pre.sh}
`,
    'pre.sh': '#!/bin/sh\necho prepared by config\n',
  });
  repository('work/app', {
    '.zuul.yaml': `
- secret: {name: deploy, data: {user: eve, token: !encrypted/pkcs1-oaep [${chunk}]}}
- job: {name: unit, run: ci/unit.sh}
- job: {name: publish, run: ci/publish.sh, secrets: [deploy]}
- job: {name: whole, run: ci/whole.sh, required-projects: [git.example.org/acme/lib]}
- project:
    check: {jobs: [unit]}
`,
    'ci/unit.sh':
      '#!/bin/sh\necho "$ZUUL_CHANGE of $ZUUL_PROJECT on $ZUUL_BRANCH"\ncat note.txt\nexit $(cat status)\n',
    'ci/publish.sh': '#!/bin/sh\necho "token: $(cat "$ZUUL_SECRETS_FILE")"\n',
    'ci/whole.sh': '#!/bin/sh\ncat "$ZUUL_SRC_DIR/git.example.org/acme/lib/lib.txt"\n',
    'note.txt': 'as committed\n',
    status: '0\n',
  });
  git(app, 'remote', 'add', 'origin', 'ssh://eve@git.example.org/acme/app');
  begin = git(app, 'rev-parse', 'HEAD').trim();
}, 60_000);
beforeEach(() => {
  git(app, 'checkout', '-qfB', 'master', begin);
  git(app, 'clean', '-qfdx');
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

function git(place: string, ...args: readonly string[]): string {
  const person = ['-c', 'user.name=a', '-c', 'user.email=a@b.c'];
  return execFileSync('git', [...person, ...args], { cwd: place, encoding: 'utf8' });
}

function write(place: string, files: { readonly [file: string]: string }): void {
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(path.dirname(path.join(place, file)), { recursive: true });
    writeFileSync(path.join(place, file), text, { mode: 0o755 });
  }
}

function repository(name: string, files: { readonly [file: string]: string }): void {
  const place = path.join(directory, name);
  write(place, files);
  git(place, 'init', '-q', '-b', 'master');
  git(place, 'add', '-A');
  git(place, 'commit', '-qm', 'Begin');
}

async function run(...args: readonly string[]) {
  const io = {
    ...recordingIo({ PATH: process.env.PATH, XDG_CACHE_HOME: path.join(directory, 'cache') }),
    clock: systemClock(),
  };
  const status = await runProgram(['run', ...args, '-C', path.join(app, 'ci'), '--sandbox', 'none'], io);
  return { status, out: io.out(), err: io.err() };
}

test('a job runs on the files as they are, committed or not, and the checkout stays as it was', async () => {
  write(app, { 'note.txt': 'not committed\n', 'new.txt': 'new\n' });
  const before = [
    git(app, 'status', '--porcelain'),
    git(app, 'count-objects'),
    readdirSync(path.join(app, '.git')),
  ];
  const passed = await run('unit');
  expect(passed).toMatchObject({ status: 0, err: '' });
  expect(passed.out).toMatch(/^job +unit, as pipeline check runs it$/m);
  expect(passed.out).toMatch(/^tested +2 changed files \(new\.txt, note\.txt\) on [0-9a-f]{8} "Begin"$/m);
  expect(passed.out).toMatch(/^\d\d:\d\d:\d\d \| work-tree of git\.example\.org\/acme\/app on master$/m);
  expect(passed.out).toMatch(/\| not committed$/m);
  expect(passed.out).toMatch(/^ +\S+ {2}run ci\/unit\.sh$/m);
  expect(passed.out).toMatch(/^SUCCESS unit in \S+\n$/m);
  expect([
    git(app, 'status', '--porcelain'),
    git(app, 'count-objects'),
    readdirSync(path.join(app, '.git')),
  ]).toEqual(before);
  write(app, { status: '3\n' });
  const failed = await run('unit');
  expect(failed.status).toBe(1);
  expect(failed.out).toMatch(/^FAILURE unit in \S+: run playbook ci\/unit\.sh ended with status 3$/m);
});

test('a change is run as a gate would land it: merged onto the branch, or refused for its conflict', async () => {
  git(app, 'checkout', '-qb', 'topic');
  write(app, { 'note.txt': 'of the topic\n' });
  git(app, 'commit', '-qam', 'Change the note');
  git(app, 'checkout', '-q', 'master');
  write(app, { 'other.txt': 'meanwhile\n' });
  git(app, 'add', '-A');
  git(app, 'commit', '-qm', 'Meanwhile');
  const merged = await run('unit', '--change', 'topic');
  expect(merged).toMatchObject({ status: 0, err: '' });
  expect(merged.out).toMatch(/^tested +[0-9a-f]{8} "Change the note" merged onto master [0-9a-f]{8}$/m);
  expect(merged.out).toMatch(/\| topic of git\.example\.org\/acme\/app on master\n.*\| of the topic$/m);
  write(app, { 'note.txt': 'of master\n' });
  git(app, 'commit', '-qam', 'Change it, too');
  expect(await run('unit', '--change', 'topic')).toMatchObject({
    status: 3,
    err: 'error: topic conflicts with master in note.txt\n',
  });
  expect(await run('unit', '--change', 'refs/changes/1')).toMatchObject({
    status: 3,
    err: expect.stringMatching(/has no commit refs\/changes\/1; fetch it first/),
  });
});

test('a secret is never decrypted: its value is given, and masked in the log', async () => {
  expect(await run('publish')).toMatchObject({
    status: 3,
    err: expect.stringMatching(/gets secret deploy, .*--secrets FILE/),
  });
  write(directory, { 'given.yaml': 'deploy: {token: only-for-tests}\n' });
  const given = await run('publish', '--secrets', path.join(directory, 'given.yaml'));
  expect(given.status).toBe(0);
  expect(given.out).toMatch(/\| token: .*"user":\s*"eve"/);
  expect(given.out).not.toContain('only-for-tests');
});

test('another project comes from its checkout', async () => {
  expect(await run('whole')).toMatchObject({ status: 3, err: expect.stringMatching(/acme\/lib/) });
  const named = await run('whole', '--checkout', `acme/lib=${path.join(directory, 'work/lib')}`);
  expect(named).toMatchObject({ status: 0, err: '' });
  expect(named.out).toMatch(/\| the library$/m);
  expect(named.out).toMatch(/^ +and from their checkouts: git\.example\.org\/acme\/lib$/m);
});

test('with settings the rest of the tenant is read from its code hosts, and the checkout stands for its branch', async () => {
  git(directory, 'clone', '-q', '--bare', app, path.join(directory, 'hosted/acme/app'));
  write(directory, {
    'gatehouse.conf': `[scheduler]\ntenant_config = tenants.yaml\nstate_dir = ${directory}/state\n[connection local]\ndriver = git\nbaseurl = ${directory}/hosted\nproposals = for/{branch}/{topic}\n`,
    'tenants.yaml':
      '- tenant:\n    name: acme\n    source:\n      local:\n        config-projects: [acme/config]\n        untrusted-projects: [acme/app]\n',
  });
  write(app, { 'note.txt': 'tried here\n' });
  const { status, out, err } = await run('unit', '-c', path.join(directory, 'gatehouse.conf'));
  expect({ status, err }).toEqual({ status: 0, err: '' });
  expect(out).toMatch(/\| prepared by config\n(?:.*\n)*.*\| tried here$/m);
  expect(out).toMatch(/^config +of tenant acme \(.*gatehouse\.conf\), with this checkout/m);
});

test('Ctrl-C cancels the build', async () => {
  write(app, { 'ci/unit.sh': '#!/bin/sh\necho begun\nsleep 600\n' });
  const pressed = new AbortController();
  const base = recordingIo({ PATH: process.env.PATH, XDG_CACHE_HOME: path.join(directory, 'cache') });
  const io = {
    ...base,
    clock: systemClock(),
    interrupted: () => pressed.signal,
    stdout: {
      write(text: string) {
        base.stdout.write(text);
        if (text.includes('| begun')) pressed.abort();
      },
    },
  };
  expect(await runProgram(['run', 'unit', '-C', app, '--sandbox', 'none'], io)).toBe(130);
  expect(io.out()).toMatch(/^CANCELED unit/m);
});
