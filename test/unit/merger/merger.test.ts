import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { OverBudget } from '../../../src/git/objects/tree-budget.ts';
import type { ClaimedRequest } from '../../../src/merger/deps.ts';
import { createMerger } from '../../../src/merger/merger.ts';
import type { MergerOutcome, MergerRequest } from '../../../src/model/merge.ts';
import {
  configFilesRequest,
  key,
  type MergerStage,
  mergeRequest,
  openStage,
  repoStateRequest,
} from './merger-stage.ts';

let stage: MergerStage;
beforeEach(async () => {
  stage = await openStage();
});
afterEach(() => stage[Symbol.asyncDispose]());

/** A queue in memory with the manners of the store's. */
function queueOf(first: readonly MergerRequest[]) {
  const waiting = [...first];
  const outcomes = new Map<string, MergerOutcome>();
  const dropped: string[] = [];
  const attempts = new Map<string, number>();
  let wake: (() => void) | undefined;
  let refuse = 0;
  const claimedOf = (request: MergerRequest): ClaimedRequest => ({
    request,
    attempt: attempts.get(request.uuid) ?? 1,
    async complete(outcome) {
      if (refuse > 0) {
        refuse -= 1;
        throw new Error('the claim is gone');
      }
      outcomes.set(request.uuid, outcome);
    },
    async again(attempt) {
      attempts.set(request.uuid, attempt);
      waiting.push(request);
      wake?.();
    },
    async drop() {
      dropped.push(request.uuid);
    },
  });
  return {
    outcomes,
    dropped,
    put(request: MergerRequest) {
      waiting.push(request);
      wake?.();
    },
    refuseNext: (times: number) => {
      refuse += times;
    },
    async claim(most: number, signal: AbortSignal) {
      while (waiting.length === 0 && !signal.aborted) {
        await new Promise<void>(resolve => {
          wake = resolve;
          signal.addEventListener('abort', () => resolve(), { once: true });
        });
      }
      return signal.aborted ? [] : waiting.splice(0, most).map(claimedOf);
    },
  };
}

const ROOM = { trouble: async () => undefined, found: async () => {} };
const log = { info: vi.fn(), warn: vi.fn(), child: () => log };

describe('the merger', () => {
  it('serves all that wait together: one fetch per project', async () => {
    for (const name of ['app', 'lib'])
      await (await stage.host(name)).commit({ files: { 'zuul.yaml': name } });
    const one = await stage.propose('app', '1', { b: '1' });
    const two = await stage.propose('lib', '2', { b: '1' });
    const requests = [
      mergeRequest([one]),
      mergeRequest([two]),
      mergeRequest([one, two]),
      repoStateRequest([{ project: key('app'), branches: ['main'] }]),
      configFilesRequest('lib', { branches: ['main'] }),
    ];
    const queue = queueOf(requests);
    const merger = createMerger({ ...stage.deps, requests: queue, log, room: ROOM });
    await vi.waitUntil(() => queue.outcomes.size === requests.length, { timeout: 20_000 });
    await merger.close();
    expect(requests.map(({ uuid }) => queue.outcomes.get(uuid)?.kind)).toEqual([
      'merged',
      'merged',
      'merged',
      'repo-state',
      'config-files',
    ]);
    expect(stage.cache.counters()).toMatchObject({ fetches: 2, merges: 2 });
  });

  it('says in a short answer that the answer cannot be stored', async () => {
    await (await stage.host('app')).commit({ files: { a: '1' } });
    const request = repoStateRequest([{ project: key('app'), branches: [] }]);
    const queue = queueOf([request]);
    queue.refuseNext(1);
    const merger = createMerger({ ...stage.deps, requests: queue, log, room: ROOM });
    await vi.waitUntil(() => queue.outcomes.size === 1, { timeout: 20_000 });
    await merger.close();
    expect(queue.outcomes.get(request.uuid)).toMatchObject({
      kind: 'failed',
      retryable: false,
      text: 'Unable to store the answer of the merger: the claim is gone',
      steps: [{ kind: 'FetchRefs' }],
    });
  });

  it('drops a request whose answer cannot be stored, and goes on', async () => {
    await (await stage.host('app')).commit({ files: { a: '1' } });
    const state = () => repoStateRequest([{ project: key('app'), branches: [] }]);
    const [hopeless, later] = [state(), state()];
    const queue = queueOf([hopeless]);
    queue.refuseNext(2);
    const merger = createMerger({ ...stage.deps, requests: queue, log, room: ROOM });
    await vi.waitUntil(() => queue.dropped.includes(hopeless.uuid), { timeout: 20_000 });
    queue.put(later);
    await vi.waitUntil(() => queue.outcomes.has(later.uuid), { timeout: 20_000 });
    await merger.close();
  });

  it('finishes what it has claimed before it closes', async () => {
    await (await stage.host('app')).commit({ files: { a: '1' } });
    const request = repoStateRequest([{ project: key('app'), branches: [] }]);
    const queue = queueOf([request]);
    const merger = createMerger({ ...stage.deps, requests: queue, log, room: ROOM });
    await new Promise(resolve => setImmediate(resolve));
    await merger.close();
    expect(queue.outcomes.get(request.uuid)?.kind).toBe('repo-state');
  });

  it('answers even after an unexpected error', async () => {
    const request = repoStateRequest([{ project: key('app'), branches: [] }]);
    const queue = queueOf([request]);
    const broken = {
      ...stage.cache,
      repository: () => Promise.reject(new Error('disk full at https://user:secret@host/x')),
    };
    const merger = createMerger({ ...stage.deps, repositories: broken, requests: queue, log, room: ROOM });
    await vi.waitUntil(() => queue.outcomes.size === 1, { timeout: 20_000 });
    await merger.close();
    expect(queue.outcomes.get(request.uuid)).toMatchObject({ kind: 'failed', retryable: true });
    expect(JSON.stringify(queue.outcomes.get(request.uuid))).not.toContain('secret');
  });

  it('gives a request that runs out of time to one more merger, then ends it', async () => {
    const request = configFilesRequest('app');
    const queue = queueOf([request]);
    let tries = 0;
    const repository = () => {
      tries += 1;
      return Promise.reject(new OverBudget('time', 'its tree could not be read within 120 s'));
    };
    const deps = { ...stage.deps, repositories: { ...stage.cache, repository } };
    const merger = createMerger({ ...deps, requests: queue, log, room: ROOM });
    await vi.waitUntil(() => queue.outcomes.size === 1, { timeout: 20_000 });
    await merger.close();
    expect(tries).toBe(2);
    expect(queue.outcomes.get(request.uuid)).toMatchObject({
      kind: 'failed',
      text: 'Unable to serve the request: its tree could not be read within 120 s',
      retryable: false,
    });
  });
});
