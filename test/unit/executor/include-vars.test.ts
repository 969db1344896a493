import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { includedVars } from '../../../src/executor/include-vars.ts';
import { parseCommitId } from '../../../src/model/project.ts';
import { buildRequest, openBench, PROJECT, script } from './fixture.ts';

let folder: string;
let tree: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gatehouse-vars-'));
  tree = join(folder, 'tree');
  await mkdir(join(tree, '.git'), { recursive: true });
  await writeFile(join(folder, 'outside.yaml'), 'secret: 1\n');
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const commit = parseCommitId('a'.repeat(40));
const file = (path: string) => ({
  ...{ project: PROJECT, canonicalName: 'git.example.org/acme/app', branch: 'main', commit, path },
});
const included = (files: readonly ReturnType<typeof file>[], parentData = {}) =>
  includedVars({ includeVars: files, parentData }, { treeOf: () => ({ host: tree, job: '/x' }) });

describe('files of include-vars', () => {
  test('are merged in their order over returned data, read as PyYAML reads them', async () => {
    await writeFile(
      join(tree, 'one.yaml'),
      'a: {x: 1, y: yes}\nday: 2020-01-02\nbase: &b {k: v}\nmore: {<<: *b, l: 0o7}\n',
    );
    await writeFile(join(tree, 'two.yaml'), 'a: {z: [1, ~]}\nwho: file\n');
    await writeFile(join(tree, 'empty.yaml'), '# nothing\n');
    const files = [file('one.yaml'), file('empty.yaml'), file('two.yaml')];
    expect(await included(files, { who: 'parent', kept: true })).toEqual({
      kind: 'vars',
      vars: {
        who: 'file',
        kept: true,
        a: { x: 1, y: true, z: [1, null] },
        day: expect.stringContaining('2020-01-02'),
        base: { k: 'v' },
        more: { k: 'v', l: '0o7' },
      },
    });
  });

  test('that do not exist refuse the build unless they are optional', async () => {
    expect(await included([file('none.yaml')])).toEqual({
      kind: 'refused',
      reason: `variables file git.example.org/acme/app/none.yaml does not exist at commit ${commit}`,
    });
    expect(await included([{ ...file('none.yaml'), optional: true } as never])).toEqual({
      kind: 'vars',
      vars: {},
    });
  });

  test('that cannot be looked for are a failure of the machine, also where they are optional', async () => {
    const unusable = { treeOf: () => ({ host: `${tree}\0`, job: '/x' }) };
    const includeVars = [{ ...file('none.yaml'), optional: true as const }];
    await expect(includedVars({ includeVars }, unusable)).rejects.toThrow('null bytes');
  });

  test('that are links to themselves do not exist', async () => {
    await symlink('itself.yaml', join(tree, 'itself.yaml'));
    expect(await included([file('itself.yaml')])).toMatchObject({ kind: 'refused' });
  });

  const bomb = `a: &a [1,1,1,1,1,1,1,1,1,1]\n${[...'bcdefghi']
    .map(
      (name, index) => `${name}: &${name} [${Array.from({ length: 10 }, () => `*${'abcdefgh'[index]}`)}]\n`,
    )
    .join('')}`;
  test.each([
    ['a list', '- 1\n', /is not a mapping/],
    ['two documents', 'a: 1\n---\nb: 1\n', /holds several documents/],
    ['broken YAML', 'a: [1\n', /is no YAML: /],
    ['the name of a variable of Ansible', 'ansible_connection: x\n', /sets ansible_connection, which means/],
    ['aliases without end', bomb, /holds more than 50000 values/],
    ['a cycle', 'a: &a [*a]\n', /is no YAML|holds more than 50000 values, deeper ones/],
    ['too much', `a: ${'x'.repeat(300_000)}\n`, /is longer than 262144 bytes/],
  ])('with %s refuse the build with the reason', async (_, text, reason) => {
    await writeFile(join(tree, 'bad.yaml'), text);
    expect(await included([file('bad.yaml')])).toEqual({
      kind: 'refused',
      reason: expect.stringMatching(reason),
    });
  });

  test('are looked for in their project only, also behind links', async () => {
    await symlink('../outside.yaml', join(tree, 'link.yaml'));
    await symlink('..', join(tree, 'up'));
    await writeFile(join(tree, '.git/config.yaml'), 'a: 1\n');
    for (const [path, reason] of [
      ['link.yaml', /leads out of its project/],
      ['up/outside.yaml', /leads out of its project/],
      ['.git/config.yaml', /lies in .git/],
      ['up/tree', /leads out of its project/],
    ] as const)
      expect(await included([file(path)]), path).toEqual({
        kind: 'refused',
        reason: expect.stringMatching(reason),
      });
  });
});

test('a build finds the variables of a file of its commit below its own', async () => {
  await using bench = await openBench();
  const own = await bench.commit({
    'vars/ci.yaml': 'greeting: of the file\nlevel: {depth: 3}\n',
    'ci/run.sh': script(
      `node -e 'console.log("vars", JSON.stringify(JSON.parse(require("fs").readFileSync(process.env.GATEHOUSE_VARIABLES)).vars))'`,
    ),
  });
  const request = buildRequest(own, { run: ['ci/run.sh'] });
  const includeVars = [{ ...file('vars/ci.yaml'), commit: parseCommitId(own) }];
  const { result, log } = await bench.submit({ ...request, includeVars }).ended;
  expect(result.result, log).toBe('SUCCESS');
  expect(log).toContain('vars {"greeting":"hello","level":{"depth":3}}');

  const missing = [{ ...file('vars/other.yaml'), commit: parseCommitId(own) }];
  const refused = await bench.submit({ ...buildRequest(own, { run: ['ci/run.sh'] }), includeVars: missing })
    .ended;
  expect(refused.result.result).toBe('ERROR');
  expect(refused.result.detail).toContain('vars/other.yaml does not exist');
});
