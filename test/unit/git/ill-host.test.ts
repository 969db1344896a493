/** Every ailment of a host over HTTP: the fetch fails as the host's trouble, bounded in time, and works when the host is well. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseRefName } from '../../../src/git/objects/ref-name.ts';
import { createGit } from '../../../src/git/process/git.ts';
import type { Remote } from '../../../src/git/process/remote.ts';
import { openRepositoryCache } from '../../../src/git/repository-cache.ts';
import { startAside } from '../../../src/git/starter/start-aside.ts';
import { type Ailment, startGitHttpHost } from '../../fake/git-http-host.ts';
import { createGitRepository, runGit } from '../../fake/git-repository.ts';
import { IDENTITY } from './open-repository.ts';

const MAIN = parseRefName('refs/heads/main');
/** A host with a repository, and a mirror of it. */
async function hosted() {
  await using stack = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), 'gatehouse-ill-'));
  stack.defer(() => rm(folder, { recursive: true, force: true }));
  const own = stack.use(await createGitRepository());
  await own.commit({ files: { 'big.txt': 'some text that fills a pack\n'.repeat(400) } });
  await runGit(folder, ['clone', '--quiet', '--bare', own.path, join(folder, 'hosted/org/app.git')]);
  const host = stack.use(await startGitHttpHost(join(folder, 'hosted')));
  const git = createGit({
    identity: IDENTITY,
    start: startAside,
    timeoutMs: 20_000,
    lowSpeedBytes: 100,
    lowSpeedSeconds: 1,
  });
  const root = join(folder, 'mirrors');
  const cache = await openRepositoryCache({ root, git, mergeTreeMode: 'process-per-merge' });
  stack.defer(() => cache.close());
  const mirror = await cache.repository('local', 'org/app');
  const remote: Remote = { url: `${host.url}/org/app` };
  const whole = stack.move();
  return { host, own, mirror, remote, [Symbol.asyncDispose]: () => whole.disposeAsync() };
}

const AILMENTS: readonly (readonly [Ailment, string])[] = [
  [{ kind: 'status', status: 401 }, 'denied'],
  [{ kind: 'status', status: 403 }, 'limited'],
  [{ kind: 'status', status: 429, retryAfterSeconds: 1 }, 'limited'],
  [{ kind: 'status', status: 500 }, 'unreachable'],
  [{ kind: 'status', status: 503 }, 'unreachable'],
  [{ kind: 'hang' }, 'timeout'],
  [{ kind: 'drip', bytesPerSecond: 1 }, 'timeout'],
  [{ kind: 'truncate', bytes: 40 }, 'unreachable'],
  [{ kind: 'reset' }, 'unreachable'],
  [{ kind: 'lose-reply' }, 'unreachable'],
];

// What hangs is waited for: several at once.
describe.concurrent('a fetch from a host', () => {
  for (const [ailment, reason] of AILMENTS) {
    for (const step of ['advertisement', 'exchange'] as const) {
      it(`with ${JSON.stringify(ailment)} at the ${step} is the trouble of the host, and passes`, async () => {
        await using t = await hosted();
        const { host, own, mirror, remote } = t;
        host.ail(request => (request.step === step ? ailment : undefined));
        const outcome = await mirror.fetch(remote, [{ ref: MAIN }]);
        expect(outcome).toMatchObject({ kind: 'remote-failed', nature: 'host', reason });
        host.heal();
        expect(await mirror.fetch(remote, [{ ref: MAIN }])).toEqual({
          kind: 'fetched',
          commits: [await own.tip(MAIN)],
        });
      });
    }
  }
});
