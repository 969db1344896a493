/** Requests to hold the hosts of failed builds, in the store: made by people, used by executors, ended by people and the scheduler. */
import type { Nanoseconds } from '../lib/clock.ts';
import { isNewerRecord } from '../model/codec/record.ts';
import { holdRequestCodec } from '../model/codec/records.ts';
import {
  type FailedBuild,
  type HeldBuild,
  type HoldRequest,
  wantsBuild,
  withHeld,
} from '../model/hold-request.ts';
import { withLeftover } from '../model/static-host.ts';
import { settle } from '../store/connection.ts';
import { nameOfNode, type StorePaths } from '../store/paths.ts';
import { type Operation, remove, type Store, set } from '../store/port.ts';
import { hostStateOperation } from './host-state.ts';

/** Where they are, and the states of hosts. */
export interface HoldPlace {
  readonly store: Store;
  readonly paths: Pick<StorePaths, 'holds' | 'hold' | 'hostState'>;
}

/** As it was when read. */
export interface StoredHold {
  /** Ten digits. */
  readonly id: string;
  readonly version: number;
  readonly hold: HoldRequest;
}

/** The oldest first. One that this process cannot read is left out. @param onBroken of those that no process can. */
export async function readHolds(
  { store, paths }: HoldPlace,
  onBroken: (id: string, error: unknown) => void = () => undefined,
): Promise<readonly StoredHold[]> {
  const ids = ((await settle(store, () => store.children(paths.holds))) ?? []).map(nameOfNode).toSorted();
  const nodes = await settle(store, () => store.getMany(ids.map(paths.hold)));
  return ids.flatMap((id, index) => {
    const node = nodes[index];
    if (node === undefined) return [];
    try {
      return [{ id, version: node.stat.version, hold: holdRequestCodec.decode(node.data) }];
    } catch (error) {
      if (!isNewerRecord(error)) onBroken(id, error);
      return [];
    }
  });
}

/** The request that wants the hosts of the build; undefined: none does. */
export async function findHold(place: HoldPlace, build: FailedBuild): Promise<StoredHold | undefined> {
  return (await readHolds(place)).find(({ hold }) => wantsBuild(hold, build));
}

/**
 * Holds the hosts of a build as they are, for the caller's multi, which fails as those of {@link hostStateOperation} when another writer was
 * first. Hosts that a person holds already stay so, and are cleaned.
 */
export async function holdOperations(
  place: HoldPlace,
  { id, version, hold }: StoredHold,
  build: HeldBuild,
): Promise<readonly Operation[]> {
  const operations: Operation[] = [
    set(place.paths.hold(id), holdRequestCodec.encode(withHeld(hold, build)), version),
  ];
  for (const host of build.hosts)
    operations.push(
      ...(await hostStateOperation(place, host, state =>
        state?.held === undefined
          ? {
              ...state,
              held: { reason: hold.reason, since: build.at, request: { id, build: build.build } },
            }
          : withLeftover(state, build.build, build.at),
      )),
    );
  return operations;
}

/** Ends the hold of some of its builds, or all of it: an executor cleans their hosts, which then serve again. */
export async function releaseOperations(
  place: HoldPlace,
  { id, version }: StoredHold,
  released: readonly HeldBuild[],
  now: Nanoseconds,
  after: HoldRequest | 'deleted',
): Promise<readonly Operation[]> {
  const path = place.paths.hold(id);
  const operations: Operation[] = [
    after === 'deleted' ? remove(path, version) : set(path, holdRequestCodec.encode(after), version),
  ];
  for (const { build, hosts } of released)
    for (const host of hosts)
      operations.push(
        ...(await hostStateOperation(place, host, state => {
          // A person may have released it, or holds it now.
          if (state?.held?.request?.build !== build) return state;
          const { held: _, ...rest } = state;
          return withLeftover(rest, build, now);
        })),
      );
  return operations;
}
