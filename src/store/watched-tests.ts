/** Tests of a project that failed lately, in the store: written by executors whose builds failed some, read by those whose builds ran some. */
import type { Nanoseconds } from '../lib/clock.ts';
import { isNewerRecord } from '../model/codec/record.ts';
import { watchedTestsCodec } from '../model/codec/records.ts';
import { type TestName, type WatchedTests, watchedAt, withFailures } from '../model/watched-tests.ts';
import { settle } from './connection.ts';
import { ensureNode } from './ensure-node.ts';
import type { StorePaths } from './paths.ts';
import { create, type Operation, remove, type Store, StoreError, set } from './port.ts';

/** Of one project in one tenant. */
export interface WatchPlace {
  readonly store: Store;
  readonly paths: Pick<StorePaths, 'watchedTests' | 'watchedTestsOf'>;
  readonly tenant: string;
  /** Canonical name. */
  readonly project: string;
}

const NONE: WatchedTests = { tests: [] };
/** Times that one change is tried again because another build was first. */
const MOST_TRIES = 5;

/** Empty: none is watched, or this process cannot read which. @throws StoreError when the session is over. */
export async function readWatched(place: WatchPlace, now: Nanoseconds): Promise<readonly TestName[]> {
  const { watched } = await read(place);
  return watched === undefined ? [] : watchedAt(watched, now);
}

/** Most builds write nothing: what they failed is watched. @throws StoreError when the session is over. */
export async function watchFailures(
  place: WatchPlace,
  failures: readonly TestName[],
  now: Nanoseconds,
): Promise<void> {
  const { store, paths, tenant, project } = place;
  const path = paths.watchedTestsOf(tenant, project);
  for (let tries = 1; tries <= MOST_TRIES; tries++) {
    const { watched, version } = await read(place);
    const next = watched === undefined ? undefined : withFailures(watched, failures, now);
    if (next === undefined) return;
    const data = watchedTestsCodec.encode(next);
    try {
      await store.multi([version === undefined ? create(path, data) : set(path, data, version)]);
      return;
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      if (error.code === 'NoNode' && version === undefined) await ensureNode(store, paths.watchedTests);
      // A lost reply: what is there says whether it was written.
      else if (!['BadVersion', 'NodeExists', 'NoNode', 'ConnectionLoss'].includes(error.code)) throw error;
    }
  }
}

/** `watched` undefined: a process of a newer version wrote it. A broken one counts as none, and is replaced. */
async function read({ store, paths, tenant, project }: WatchPlace): Promise<{
  readonly watched: WatchedTests | undefined;
  readonly version: number | undefined;
}> {
  const node = await settle(store, () => store.get(paths.watchedTestsOf(tenant, project)));
  if (node === undefined) return { watched: NONE, version: undefined };
  const { version } = node.stat;
  try {
    return { watched: watchedTestsCodec.decode(node.data), version };
  } catch (error) {
    return { watched: isNewerRecord(error) ? undefined : NONE, version };
  }
}

/** Operations that remove what is watched no more. Each stands alone; any of them may fail. */
export async function outdatedWatches(
  { store, paths }: Pick<WatchPlace, 'store' | 'paths'>,
  now: Nanoseconds,
): Promise<readonly Operation[]> {
  const found = ((await store.children(paths.watchedTests)) ?? []).map(
    name => `${paths.watchedTests}/${name}`,
  );
  const nodes = await store.getMany(found);
  return found.flatMap((path, index) => {
    const node = nodes[index];
    return node === undefined || isWatched(node.data, now) ? [] : [remove(path, node.stat.version)];
  });
}

function isWatched(data: Uint8Array, now: Nanoseconds): boolean {
  try {
    return watchedAt(watchedTestsCodec.decode(data), now).length > 0;
  } catch (error) {
    return isNewerRecord(error);
  }
}
