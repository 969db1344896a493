/** Plain git against the code host of the tests, well and ill. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Ailment, type GitHttpHost, startGitHttpHost } from '../../fake/git-http-host.ts';
import { createGitRepository, type GitRepository, runGit } from '../../fake/git-repository.ts';

let folder: string;
let host: GitHttpHost;
let own: GitRepository;
let hosted: string;

beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'gatehouse-host-'));
  hosted = path.join(folder, 'org/app.git');
  await runGit(folder, ['init', '--quiet', '--bare', '--initial-branch=main', hosted]);
  host = await startGitHttpHost(folder);
  own = await createGitRepository();
  await own.commit({ files: { 'a.txt': 'a\n' } });
});
afterEach(async () => {
  await own[Symbol.asyncDispose]();
  await host[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

const push = () => own.git('push', '--quiet', `${host.url}/org/app.git`, 'refs/heads/main');
const tipAtHost = async () =>
  (await runGit(hosted, ['for-each-ref', '--format=%(objectname)', 'refs/heads/main'])).toString().trim();

test('takes a push and serves it again', async () => {
  await push();
  expect(await tipAtHost()).toBe(await own.tip('refs/heads/main'));
  expect(await own.git('ls-remote', `${host.url}/org/app.git`, 'refs/heads/main')).toContain(
    await tipAtHost(),
  );
  expect(host.requests.map(each => `${each.service} ${each.step} ${each.project} ${each.ailment}`)).toContain(
    'git-receive-pack exchange org/app.git none',
  );
});

const FAILING: readonly (readonly [Ailment, RegExp])[] = [
  [{ kind: 'status', status: 403 }, /403/],
  [{ kind: 'status', status: 503, retryAfterSeconds: 1 }, /503/],
  [{ kind: 'reset' }, /Empty reply|reset|connect/i],
  [{ kind: 'truncate', bytes: 10 }, /early EOF|transfer closed|end of file|hung up|curl/i],
];

test.each(FAILING)('%j is what git meets, and nothing has happened', async (ailment, message) => {
  host.ail(() => ailment);
  await expect(push()).rejects.toThrow(message);
  host.heal();
  expect(await tipAtHost()).toBe('');
  await push();
});

test('a lost reply is a push that has happened', async () => {
  host.ail(({ service, step }) =>
    service === 'git-receive-pack' && step === 'exchange' ? { kind: 'lose-reply' } : undefined,
  );
  await expect(push()).rejects.toThrow();
  expect(await tipAtHost()).toBe(await own.tip('refs/heads/main'));
});

test('a request that hangs is cut when the host is well again', async () => {
  host.ail(() => ({ kind: 'hang' }));
  const pushing = push().then(
    () => 'pushed',
    () => 'failed',
  );
  await expect.poll(() => host.requests.length).toBeGreaterThan(0);
  host.heal();
  // git may try again by itself; either way it does not hang any longer.
  expect(['pushed', 'failed']).toContain(await pushing);
});

test('an answer that drips comes whole', async () => {
  await push();
  host.ail(({ step }) => (step === 'advertisement' ? { kind: 'drip', bytesPerSecond: 200 } : undefined));
  expect(await own.git('ls-remote', `${host.url}/org/app.git`, 'refs/heads/main')).toContain(
    await tipAtHost(),
  );
});
