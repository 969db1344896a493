import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { load } from 'js-yaml';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { runProgram } from '../../../src/cmd/commands/program.ts';
import { textOf } from '../docs/repository-text.ts';
import { recordingIo } from './fixture.ts';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(path.join(tmpdir(), 'gatehouse-lint-'));
});
afterEach(() => rmSync(directory, { recursive: true }));

async function lint(files: { readonly [path: string]: string }, ...named: readonly string[]) {
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(path.dirname(path.join(directory, file)), { recursive: true });
    writeFileSync(path.join(directory, file), text);
  }
  const io = recordingIo({});
  const status = await runProgram(['lint', '-C', directory, ...named], io);
  return { status, out: io.out(), err: io.err() };
}

describe('gatehouse lint', () => {
  test('shows a mistake with its line, and a caret below its place', async () => {
    expect(await lint({ '.zuul.yaml': '- job:\n    name: unit\n    tiemout: 60\n' })).toEqual({
      status: 1,
      out: `.zuul.yaml:3:5: error: unknown key "tiemout" of job unit, did you mean "timeout"? [unknown-key]
    3 |     tiemout: 60
      |     ^
`,
      err: '1 file: 1 error, 0 warnings\n',
    });
  });

  test('is content with what is right, and with names that another repository may define', async () => {
    const text =
      '- job:\n    name: unit\n    parent: base\n- project:\n    check: {jobs: [unit, somewhere-else]}\n';
    expect(await lint({ 'zuul.yaml': text })).toEqual({
      status: 0,
      out: '',
      err: '1 file: 0 errors, 0 warnings\n',
    });
  });

  test('warns of a name that is nearly one of the repository', async () => {
    const { status, out } = await lint({
      'zuul.d/jobs.yaml': '- job: {name: unit-tests}\n- nodeset: {name: large, nodes: []}\n',
      'zuul.d/project.yaml':
        '- project:\n    check:\n      jobs:\n        - unit-test\n        - docs: {dependencies: [unit-tests], nodeset: larg}\n',
    });
    expect(status).toBe(0);
    expect(out.match(/^zuul.*$/gm)).toEqual([
      'zuul.d/project.yaml:4:11: warning: job unit-test is not defined in this repository, did you mean "unit-tests"? [unknown-job]',
      'zuul.d/project.yaml:5:55: warning: nodeset larg is not defined in this repository, did you mean "large"? [unknown-nodeset]',
    ]);
  });

  test('reports a mistake once: a job that could not be read counts as defined', async () => {
    const { out } = await lint({
      '.zuul.yaml':
        '- job:\n    name: unit\n    timeout: soon\n- job: {name: unite}\n- project:\n    check: {jobs: [unit]}\n',
    });
    expect(out.match(/^\.zuul.*$/gm)).toEqual([
      '.zuul.yaml:3:14: error: timeout of job unit is the string "soon"; it must be a whole number [wrong-type]',
    ]);
  });

  test('reports nothing that follows from a file which is no YAML', async () => {
    const { out } = await lint({
      'zuul.d/a.yaml': '- job:\n\tname: unit\n',
      'zuul.d/b.yaml': '- job: {name: units}\n- project:\n    check: {jobs: [unit]}\n',
    });
    expect(out).toBe(
      'zuul.d/a.yaml:2:2: error: not valid YAML: this line is indented with a tab; use spaces [yaml-syntax]\n    2 | →name: unit\n      |  ^\n',
    );
  });

  test('explains what was not indented', async () => {
    const { out } = await lint({ '.zuul.yaml': '- job:\n  name: unit\n' });
    expect(out).toContain('"name" is next to "job"; indent it below "job" or start it with "- "');
  });

  test('shows findings of the named files only, and reads the others for their names', async () => {
    const files = {
      'zuul.d/jobs.yaml': '- job: {name: unit-tests, tiemout: 1}\n',
      'zuul.d/project.yaml': '- project:\n    check: {jobs: [unit-test]}\n',
    };
    const { status, out } = await lint(files, path.join(directory, 'zuul.d/project.yaml'));
    expect(status).toBe(0);
    expect(out).toContain('did you mean "unit-tests"?');
    expect(out).not.toContain('tiemout');
    expect((await lint(files, 'zuul.d/jobs.yaml')).status).toBe(1);
  });

  test('reads a file that is no place of configuration when it is named', async () => {
    const { status, out } = await lint({ 'templates/job.yaml': '- jub: {name: a}\n' }, 'templates/job.yaml');
    expect(status).toBe(1);
    expect(out).toContain('templates/job.yaml:1:3: error: unknown stanza "jub", did you mean "job"?');
  });

  test('names what it did not read, and fails for what the service would not read either', async () => {
    const secret = path.join(directory, 'elsewhere.txt');
    writeFileSync(secret, 'elsewhere');
    mkdirSync(path.join(directory, 'zuul.d'));
    symlinkSync(secret, path.join(directory, 'zuul.d/link.yaml'));
    const { status, out, err } = await lint({
      'zuul.d/large.yaml': `# ${'x'.repeat(1_000_001)}\n`,
      'zuul.d/ignored/.zuul.ignore': '',
      'zuul.d/ignored/bad.yaml': 'bad\n',
      '.zuul.yaml': '- job: {name: a}\n',
    });
    expect(status).toBe(1);
    expect(out.split('\n')).toEqual([
      'zuul.d/large.yaml:1:1: error: has more than 1000000 bytes; split it [unreadable-file]',
      'zuul.d/link.yaml:1:1: error: is a symbolic link, which is not followed [unreadable-file]',
      '.zuul.yaml:1:1: warning: not read, because zuul.d/ exists too [ignored-file]',
      '',
    ]);
    expect(err).toBe('3 files: 2 errors, 1 warning\n');
  });

  test('says which file is past the bound of a repository', { timeout: 60_000 }, async () => {
    const files = Object.fromEntries(
      Array.from({ length: 1002 }, (_, index) => [`zuul.d/${String(index).padStart(4, '0')}.yaml`, '[]\n']),
    );
    const { status, out } = await lint(files);
    expect(status).toBe(1);
    expect(out).toBe(
      'zuul.d/1000.yaml:1:1: error: a repository may have 1000 files; this one and what follows are not read [unreadable-file]\n',
    );
  });

  test('fails where there is nothing to check, and for a file that is not there', async () => {
    expect(await lint({})).toMatchObject({ status: 1, err: expect.stringContaining('holds no zuul.yaml') });
    expect(await lint({}, 'nowhere.yaml')).toMatchObject({
      status: 1,
      out: 'nowhere.yaml:1:1: error: cannot be read (ENOENT) [unreadable-file]\n',
    });
  });

  test('keeps control characters of a file out of the terminal', async () => {
    const { out } = await lint({ '.zuul.yaml': '- job: {name: a, "\\e[2J": 1, b\u202ec: 2}\n' });
    for (const character of ['\u001b', '\u202e']) expect(out).not.toContain(character);
  });
});

test('the hook for pre-commit names a program of this repository, and the files that lint reads', () => {
  const [hook] = load(textOf('.pre-commit-hooks.yaml')) as readonly {
    entry: string;
    files: string;
    id: string;
  }[];
  expect(hook?.entry).toBe('bin/gatehouse.mjs lint');
  const files = new RegExp(hook?.files ?? '');
  for (const file of ['zuul.yaml', '.zuul.yaml', 'zuul.d/a/b.yaml', '.zuul.d/c.yml'])
    expect(file).toMatch(files);
  for (const file of ['a/zuul.yaml', 'zuul.d/run.sh', 'playbooks/a.yaml']) expect(file).not.toMatch(files);
});
