/** F25: the disk of a merger is full. That says nothing about a change: it waits, and is merged once there is room. */
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createGit } from '../../../src/git/process/git.ts';
import { openRepositoryCache } from '../../../src/git/repository-cache.ts';
import { createDiskRoom } from '../../../src/lib/disk-room.ts';
import type { ClaimedRequest } from '../../../src/merger/deps.ts';
import { createMerger } from '../../../src/merger/merger.ts';
import type { MergerOutcome, MergerRequest } from '../../../src/model/merge.ts';
import { describeOnSmallDisk, type SmallDisk, smallDisk } from '../../setup/small-disk.ts';
import { IDENTITY } from '../git/open-repository.ts';
import { type MergerStage, mergeRequest, openStage } from './merger-stage.ts';

let stage: MergerStage;
let disk: SmallDisk;
beforeEach(async () => {
  stage = await openStage();
  disk = await smallDisk(64);
});
afterEach(async () => {
  await disk[Symbol.asyncDispose]();
  await stage[Symbol.asyncDispose]();
});

/** One request after the other; what is put back comes again. */
function queueOf(waiting: MergerRequest[]) {
  const state = { puts: 0, outcome: undefined as MergerOutcome | undefined };
  const claimed = (request: MergerRequest): ClaimedRequest => ({
    request,
    attempt: 1,
    complete: async outcome => {
      state.outcome = outcome;
    },
    again: async attempt => {
      expect(attempt).toBe(1);
      state.puts += 1;
      waiting.push(request);
    },
    drop: () => Promise.reject(new Error('dropped')),
  });
  return {
    state,
    async claim(_: number, signal: AbortSignal) {
      while (waiting.length === 0 && !signal.aborted) await new Promise(resolve => setImmediate(resolve));
      return signal.aborted ? [] : waiting.splice(0, 1).map(claimed);
    },
  };
}

describeOnSmallDisk('a merger whose disk is full', () => {
  it.each([
    ['before it begins', 1],
    ['in the middle of a fetch', 0],
  ])('%s takes up the change again when there is room, and says what it waits for', async (_, begun) => {
    const app = await stage.host('app');
    await app.commit({ files: { a: '1' } });
    const big = Object.fromEntries(
      Array.from({ length: 40 }, (__, index) => [
        `f${index}`,
        Buffer.from(crypto.getRandomValues(new Uint8Array(20_000))).toString('base64'),
      ]),
    );
    const request = mergeRequest([await stage.propose('app', '1', big)]);
    const git = createGit({ identity: IDENTITY });
    await using repositories = await openRepositoryCache({ root: join(disk.path, 'git'), git });
    const reported: (string | undefined)[] = [];
    const room = createDiskRoom([disk.path], { onChange: trouble => reported.push(trouble), retryMs: 20 });
    const queue = queueOf([request]);
    if (begun === 1) await disk.fill(0);
    const gate = { ...room, found: begun === 1 ? room.found : fillAfterwards(room.found) };
    const log = { info: vi.fn(), warn: vi.fn(), child: () => log };
    const merger = createMerger({ ...stage.deps, repositories, requests: queue, log, room: gate });
    await vi.waitUntil(() => reported.length === 1 && queue.state.puts === 1 - begun, { timeout: 20_000 });
    expect(reported[0]).toMatch(/^the disk of .* is full: 0 MB/);
    expect(queue.state.outcome).toBeUndefined();
    await disk.empty();
    await vi.waitUntil(() => queue.state.outcome !== undefined, { timeout: 20_000 });
    await merger.close();
    expect(queue.state).toMatchObject({ puts: 1 - begun, outcome: { kind: 'merged' } });
    expect(reported).toEqual([expect.any(String), undefined]);
  });

  /** There was room when the merger looked, and none when git wrote. */
  function fillAfterwards(found: (signal: AbortSignal) => Promise<void>) {
    let first = true;
    return async (signal: AbortSignal) => {
      await found(signal);
      if (first) await disk.fill(100_000);
      first = false;
    };
  }
});
