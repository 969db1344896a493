/** `config-check --online` at a real Gerrit, whose accounts have what the tutorial gives them, or lack it. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openGerritClient } from '../../../drivers/gerrit/api/open-client.ts';
import { createGerritOnlineCheck } from '../../../drivers/gerrit/online/check-online.ts';
import type { PipelineUse } from '../../../src/driver/online-check.ts';
import { systemClock } from '../../../src/lib/clock.ts';
import { pause } from '../../../src/lib/pause.ts';
import { Secret } from '../../../src/lib/secret.ts';
import { projectKey } from '../../../src/model/project.ts';
import type { Account } from './account.ts';
import { type GerritOfTests, startGerrit } from './start-gerrit.ts';

let gerrit: GerritOfTests;
const stack = new AsyncDisposableStack();
beforeAll(async () => {
  gerrit = stack.use(await startGerrit());
  const change = await gerrit.push({ by: gerrit.alice, subject: 'Ready' });
  await gerrit.vote(change, gerrit.bob, { 'Code-Review': 2, Workflow: 1 });
  await gerrit.vote(change, gerrit.ci, { Verified: 2 });
});
afterAll(() => stack.disposeAsync());

const GATE: PipelineUse = {
  ...{ tenant: 'acme', pipeline: 'gate', mergeMode: undefined },
  triggers: [{ event: 'comment-added' }],
  requirements: [{ approval: [{ 'Code-Review': 2 }, { Workflow: 1 }] }],
  reporters: [{ Verified: 2, submit: true }],
  success: [{ Verified: 2, submit: true }],
};

async function findings(account: Account, password = account.password): Promise<readonly string[]> {
  const { username: user, keyFile: key } = account;
  const clock = systemClock();
  const auth = { kind: 'basic', user, password: new Secret(password) } as const;
  const client = openGerritClient(
    { baseUrl: gerrit.url, auth, verifySsl: true, concurrency: 4 },
    { connection: 'gerrit', clock, pause, noted: () => {}, asked: () => {} },
  );
  const ssh = { user, port: gerrit.ssh.port, key, knownHosts: undefined };
  const check = createGerritOnlineCheck(
    { ssh, streams: true, auth: { kind: 'none' } },
    { api: client.api, clock, wait: pause },
  );
  const project = projectKey({ connection: 'gerrit', name: gerrit.project('acme/app') });
  try {
    const uses = [{ project, defaultBranches: ['master'], pipelines: [GATE] }];
    const found = await check(uses, AbortSignal.timeout(120_000));
    return found.map(({ severity, text }) => `${severity}: ${text}`);
  } finally {
    client.close();
  }
}

test('finds nothing wrong with the account of the tutorial', async () => {
  expect(await findings(gerrit.ci)).toEqual([]);
});

test('names what an account may not do', async () => {
  const found = (await findings(gerrit.alice)).join('\n');
  expect(found).toMatch(/stream/i);
  expect(found).toContain('Verified');
  expect(found).toMatch(/submit/i);
});

test('says that a password is wrong', async () => {
  expect((await findings(gerrit.ci, 'wrong')).join('\n')).toMatch(/401|password|credentials/i);
});
