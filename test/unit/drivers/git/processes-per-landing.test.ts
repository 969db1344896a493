/** A process started is the dearest thing the driver does: how many there are per landed change must not depend on the queue. */
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { findProgram } from '../../../../src/executor/sandbox/find-runtime.ts';
import { createGate } from '../../../conformance/driver/gate.ts';
import { openGitHost } from '../../../conformance/driver/git-host.ts';

const LAND = { merge: true, note: true };
const PROPOSALS = 'refs/heads/for/main';

let folder: string;
let before: string | undefined;

beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'gatehouse-count-'));
  before = process.env.PATH;
  const git = await findProgram('git', before ?? '');
  const counting = path.join(folder, 'git');
  await writeFile(counting, `#!/bin/sh\necho "$1" >>${folder}/started\nexec ${git} "$@"\n`);
  await chmod(counting, 0o755);
  process.env.PATH = `${folder}:${before}`;
});
afterEach(async () => {
  process.env.PATH = before;
  await rm(folder, { recursive: true });
});

/** The commands of the gits started meanwhile, sorted. */
async function started(work: () => Promise<unknown>): Promise<readonly string[]> {
  await writeFile(path.join(folder, 'started'), '');
  await work();
  return (await readFile(path.join(folder, 'started'), 'utf8')).split('\n').filter(Boolean).toSorted();
}

/** Of one change that lands and is seen to have landed, among others that stay open. */
async function ofOneLanding(open: number): Promise<readonly string[]> {
  await using host = await openGitHost();
  const gate = createGate(host);
  await gate.settle();
  const { key } = await host.propose({ topic: 'first' });
  const { commit } = await host.propose({ topic: 'second' });
  const others = Array.from({ length: open }, (_, index) => `create ${PROPOSALS}/other${index} ${commit}\n`);
  await host.repository(host.projects[0]).raw(['update-ref', '--stdin'], others.join(''));
  await host.approve('first');
  await gate.settle();
  const tested = await gate.merge(key);
  return await started(async () => {
    expect(await gate.land(key, LAND, tested)).toMatchObject({ kind: 'landed' });
    await gate.settle();
  });
}

test('as many processes land a change among 200 open proposals as among 20', async () => {
  const few = await ofOneLanding(20);
  expect(few).toEqual(['push']);
  expect(await ofOneLanding(200)).toEqual(few);
});
