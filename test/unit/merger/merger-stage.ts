/** A merger with real mirrors and real "hosts" (bare repositories), and short ways to write requests. */

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findRemote } from '../../../src/driver/find-remote.ts';
import { createGit, type GitOptions } from '../../../src/git/process/git.ts';
import { openRepositoryCache, type RepositoryCache } from '../../../src/git/repository-cache.ts';
import { startAside } from '../../../src/git/starter/start-aside.ts';
import { parseNanoseconds } from '../../../src/lib/clock.ts';
import { derivedUuid } from '../../../src/lib/ids.ts';
import type { ServeDeps } from '../../../src/merger/deps.ts';
import { serveRequest } from '../../../src/merger/merger.ts';
import { changeKey } from '../../../src/model/change.ts';
import type {
  ConfigFilesRequest,
  MergeInput,
  MergeRequest,
  MergerOutcome,
  MergerRequest,
  RepoStateRequest,
} from '../../../src/model/merge.ts';
import { type ProjectKey, parseCommitId, projectKey } from '../../../src/model/project.ts';
import { createGitRepository, type GitRepository } from '../../fake/git-repository.ts';
import { IDENTITY } from '../git/open-repository.ts';

export interface MergerStage extends AsyncDisposable {
  readonly deps: ServeDeps;
  readonly cache: RepositoryCache;
  /** The host's repository of a project, made at first mention. */
  host(name: string): Promise<GitRepository>;
  /** Proposes a change as `refs/pull/<id>/head` on top of a branch's tip (or `from`). */
  propose(
    name: string,
    id: string,
    files: Record<string, string | null>,
    options?: { branch?: string; from?: string },
  ): Promise<MergeInput>;
  serve(request: MergerRequest): Promise<MergerOutcome>;
}

export const key = (name: string): ProjectKey => projectKey({ connection: 'local', name });

export async function openStage(limits: Pick<GitOptions, 'memoryBytes'> = {}): Promise<MergerStage> {
  const folder = await mkdtemp(join(tmpdir(), 'gatehouse-merger-'));
  const cache = await openRepositoryCache({
    root: join(folder, 'cache'),
    git: createGit({ identity: IDENTITY, start: startAside, ...limits }),
    mergeTreeMode: 'unbuffered-coprocess',
  });
  const hosts = new Map<string, Promise<GitRepository>>();
  const urls = new Map<ProjectKey, string>();
  let time = 1_767_225_600_000_000_000n;
  const clock = {
    now: () => {
      time += 1000n;
      return parseNanoseconds(time.toString());
    },
    monotonic: () => 0,
  };
  const local = { remote: async (at: ProjectKey) => ({ url: urls.get(at) ?? `file://${folder}/nowhere` }) };
  const remote = findRemote(new Map([['local', local]]));
  const deps: ServeDeps = { clock, repositories: cache, remote, worker: 'merger-1' };

  async function makeHost(name: string): Promise<GitRepository> {
    const host = await createGitRepository(folder);
    urls.set(key(name), host.url);
    return host;
  }

  function host(name: string): Promise<GitRepository> {
    const made = hosts.get(name) ?? makeHost(name);
    hosts.set(name, made);
    return made;
  }

  return {
    deps,
    cache,
    host,
    async propose(name, id, files, options = {}) {
      const branch = options.branch ?? 'main';
      const repository = await host(name);
      const ref = `refs/pull/${id}/head`;
      const parent = options.from ?? (await repository.tip(`refs/heads/${branch}`));
      const commit = parseCommitId(
        await repository.commit({ ref, parents: [parent], files, message: `change ${id}` }),
      );
      return {
        change: changeKey(key(name), id),
        project: key(name),
        branch,
        ref,
        commit,
        message: `Merge ${id}`,
      };
    },
    async serve(request) {
      const served = await serveRequest(deps, request);
      if (served.kind === 'overdue') throw new Error(served.text);
      return served;
    },
    async [Symbol.asyncDispose]() {
      await cache.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

let count = 0;
function common() {
  count += 1;
  return {
    uuid: derivedUuid('request', String(count)),
    tenant: 'acme',
    requestedAt: parseNanoseconds('1767225600000000000'),
    priority: 200,
  };
}

export function mergeRequest(
  inputs: readonly MergeInput[],
  more: Partial<Pick<MergeRequest, 'own' | 'ahead' | 'states' | 'pinned' | 'extraPaths' | 'alwaysRead'>> = {},
): MergeRequest {
  return { ...common(), kind: 'merge', inputs, own: 1, states: [], pinned: [], ...more };
}

export function repoStateRequest(states: RepoStateRequest['states']): RepoStateRequest {
  return { ...common(), kind: 'repo-state', states };
}

export function configFilesRequest(
  name: string,
  more: Partial<Pick<ConfigFilesRequest, 'branches' | 'atLeast' | 'extraPaths'>> = {},
): ConfigFilesRequest {
  return { ...common(), kind: 'config-files', project: key(name), branches: [], atLeast: [], ...more };
}

/** Narrows an outcome, or fails with what it is instead. */
export function expectKind<K extends MergerOutcome['kind']>(
  outcome: MergerOutcome,
  kind: K,
): Extract<MergerOutcome, { kind: K }> {
  const is = (each: MergerOutcome): each is Extract<MergerOutcome, { kind: K }> => each.kind === kind;
  if (is(outcome)) return outcome;
  throw new Error(`expected ${kind}, got ${JSON.stringify(outcome)}`);
}
