/** Every ailment of a host over HTTP: the fetch fails as the host's trouble, bounded in time, and works when the host is well. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { parseRefName } from '../../../src/git/objects/ref-name.ts';
import { createGit } from '../../../src/git/process/git.ts';
import type { Remote } from '../../../src/git/process/remote.ts';
import type { Repository } from '../../../src/git/repository.ts';
import { openRepositoryCache, type RepositoryCache } from '../../../src/git/repository-cache.ts';
import { startAside } from '../../../src/git/starter/start-aside.ts';
import { type Ailment, type GitHttpHost, startGitHttpHost } from '../../fake/git-http-host.ts';
import { createGitRepository, type GitRepository, runGit } from '../../fake/git-repository.ts';
import { IDENTITY } from './open-repository.ts';

const MAIN = parseRefName('refs/heads/main');
let folder: string;
let host: GitHttpHost;
let own: GitRepository;
let cache: RepositoryCache;
let mirror: Repository;
let remote: Remote;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gatehouse-ill-'));
  const hosted = join(folder, 'hosted/org/app.git');
  own = await createGitRepository();
  await own.commit({ files: { 'big.txt': 'some text that fills a pack\n'.repeat(400) } });
  await runGit(folder, ['clone', '--quiet', '--bare', own.path, hosted]);
  host = await startGitHttpHost(join(folder, 'hosted'));
  const git = createGit({
    identity: IDENTITY,
    start: startAside,
    timeoutMs: 20_000,
    lowSpeedBytes: 100,
    lowSpeedSeconds: 1,
  });
  cache = await openRepositoryCache({
    root: join(folder, 'mirrors'),
    git,
    mergeTreeMode: 'process-per-merge',
  });
  mirror = await cache.repository('local', 'org/app');
  remote = { url: `${host.url}/org/app` };
});
afterEach(async () => {
  await cache.close();
  await host[Symbol.asyncDispose]();
  await own[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

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

describe('a fetch from a host', () => {
  for (const [ailment, reason] of AILMENTS) {
    for (const step of ['advertisement', 'exchange'] as const) {
      it(`with ${JSON.stringify(ailment)} at the ${step} is the trouble of the host, and passes`, async () => {
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
