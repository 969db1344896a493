/** The commands with which the migration guide compares verdicts beside a Zuul, as they are printed there. */
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, inject, onTestFinished } from 'vitest';
import { ON_JQ } from '../setup/provided.ts';
import { contractLayout } from './contract-host-stories.ts';
import { TENANT } from './site.ts';
import { story } from './story.ts';

const GUIDE = 'doc/guide/migrate-from-zuul.md';
const ZUUL = 'https://zuul.example.org/api/tenant/acme';
const OURS = 'http://localhost:9000/api/tenant/acme';
const NAME =
  'the comparison of the migration guide shows the verdicts that differ from those of a Zuul, and no others';
const layout = contractLayout('merge').replace('merge: merge', 'merge: true');

/** A reference as Zuul 14 lists it: numbers of changes are numbers there, what does not apply is null. */
const ref = (change: number | string, patchset: string) => ({
  ...{
    project: 'org/project',
    branch: 'master',
    change,
    patchset,
    ref: `refs/changes/${change}`,
    ref_url: null,
  },
  ...{ oldrev: null, newrev: null },
});

const set = (uuid: string, result: string | null, refs: readonly object[]) => ({
  ...{ _id: 1, uuid, result, message: null, pipeline: 'gate', event_id: 'e'.repeat(32) },
  ...{ event_timestamp: '2026-11-28T12:00:00', first_build_start_time: null, last_build_end_time: null },
  refs,
});

async function serve(document: unknown): Promise<string> {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(request.url ?? '');
    response.setHeader('Content-Type', 'application/json').end(JSON.stringify(document));
  });
  await new Promise<void>(resolve => void server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.close();
    expect(asked).toEqual(['/api/tenant/acme/buildsets?limit=500']);
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/tenant/acme`;
}

/** The block of the guide, with real addresses. @returns what it prints. */
async function compare(zuul: string, ours: string): Promise<readonly string[]> {
  const guide = await readFile(GUIDE, 'utf8');
  const [block = ''] = /^ {4}verdicts\(\) \{\n[\s\S]*?^ {4}diff .*$/m.exec(guide) ?? [];
  expect(block).toContain(ZUUL);
  const script = block.replace(ZUUL, zuul).replace(OURS, ours);
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  execFile('bash', ['-c', script], (error, stdout, stderr) =>
    stderr === '' && (error === null || error.code === 1) ? resolve(stdout) : reject(new Error(stderr)),
  );
  return (await promise).split('\n').filter(line => /^[<>]/.test(line));
}

describe.skipIf(inject('jq').kind === 'none')(ON_JQ, () => {
  story(NAME, { layout, tenantOptions: ['shadow-mode: true'] }, async world => {
    world.fail('unit', 'B');
    const commits = [];
    for (const topic of ['A', 'B', 'C']) commits.push(await world.propose(topic));
    const [a = '', b = '', c = ''] = commits;
    world.free();
    await world.approve('A');
    await world.leaves('A', 'SUCCESS');
    await world.approve('B');
    await world.leaves('B', 'FAILURE');
    await world.observer.until('the history to have both', async () => {
      const all = await world.api.get<readonly { readonly result: string | null }[]>(
        `/api/tenant/${TENANT}/buildsets`,
      );
      return all.filter(({ result }) => result !== null).length === 2;
    });
    const zuul = await serve([
      set('1', 'SUCCESS', [ref('master/A', a)]),
      // A flaky job, a change that the gate here has not seen, an item that is still there, and a push.
      set('2', 'SUCCESS', [ref('master/B', b)]),
      set('3', 'FAILURE', [ref('master/C', c), ref(1234, '2')]),
      set('4', null, [ref('master/D', 'd')]),
      set('5', 'SUCCESS', [
        { ...ref('', ''), change: null, patchset: null, ref: 'refs/heads/master', newrev: 'f00' },
      ]),
    ]);
    const line = (...fields: readonly string[]) => ['gate', 'org/project', ...fields].join('\t');
    expect((await compare(zuul, `${world.service.url}/api/tenant/${TENANT}`)).toSorted()).toEqual(
      [
        `< ${line('1234', '2', 'FAILURE')}`,
        `< ${line('master/B', b, 'SUCCESS')}`,
        `< ${line('master/C', c, 'FAILURE')}`,
        `< ${line('refs/heads/master', 'f00', 'SUCCESS')}`,
        `> ${line('master/B', b, 'FAILURE')}`,
      ].toSorted(),
    );
  });
});
