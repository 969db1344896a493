/** Requests to hold the hosts or the workspace of failed builds, in the store: made by people, used by executors, ended by people and the scheduler. */
import type { Nanoseconds } from '../lib/clock.ts';
import type { Uuid } from '../lib/ids.ts';
import { isNewerRecord, RecordError } from '../model/codec/record.ts';
import { holdRequestCodec } from '../model/codec/records.ts';
import {
  type FailedBuild,
  type HeldBuild,
  type HoldRequest,
  wantsBuild,
  withHeld,
} from '../model/hold-request.ts';
import type { TenantName } from '../model/project.ts';
import {
  type HostState,
  type NodeGrant,
  sourcesOf,
  withKept,
  withLeftover,
  withoutKept,
} from '../model/static-host.ts';
import { settle } from '../store/connection.ts';
import { nodeName, type StorePaths } from '../store/paths.ts';
import { create, type Operation, remove, type Store, set } from '../store/port.ts';
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
  /** Its node, below `holds`: `<tenant>-<id>`, so that a tenant's are found by their names. */
  readonly node: string;
  readonly version: number;
  readonly hold: HoldRequest;
}

/**
 * The oldest first. One that this process cannot read is left out.
 *
 * @param tenant whose; undefined: of all. Those of others are not read.
 * @param onBroken of those that no process can read.
 */
export async function readHolds(
  { store, paths }: HoldPlace,
  tenant: TenantName | undefined,
  onBroken: (id: string, error: unknown) => void = () => undefined,
): Promise<readonly StoredHold[]> {
  const found = (await settle(store, () => store.children(paths.holds))) ?? [];
  const named = found
    .map(node => ({ node, id: node.slice(-ID_DIGITS), of: node.slice(0, -ID_DIGITS) }))
    .filter(({ of }) => tenant === undefined || of === prefixOf(tenant))
    .toSorted((a, b) => (a.id < b.id ? -1 : 1));
  const nodes = await settle(store, () => store.getMany(named.map(({ node }) => paths.hold(node))));
  return named.flatMap(({ id, node }, index) => {
    const read = nodes[index];
    if (read === undefined) return [];
    try {
      return [{ id, node, version: read.stat.version, hold: holdRequestCodec.decode(read.data) }];
    } catch (error) {
      if (!isNewerRecord(error)) onBroken(id, error);
      return [];
    }
  });
}

/** Of a numbered node. */
const ID_DIGITS = 10;

function prefixOf(tenant: TenantName): string {
  return `${nodeName(tenant)}-`;
}

/** Creates it; the store gives it the next number. */
export function askOperation({ paths }: Pick<HoldPlace, 'paths'>, hold: HoldRequest): Operation {
  const path = `${paths.holds}/${prefixOf(hold.tenant)}`;
  return create(path, holdRequestCodec.encode(hold), { sequential: true });
}

/** The request that wants the hosts of the build; undefined: none does. */
export async function findHold(place: HoldPlace, build: FailedBuild): Promise<StoredHold | undefined> {
  return (await readHolds(place, build.tenant)).find(({ hold }) => wantsBuild(hold, build));
}

/**
 * Holds the nodes of a build as they are, for the caller's multi, which fails as those of {@link hostStateOperation} when another writer was
 * first. Hosts that a person holds already stay so, and are cleaned.
 *
 * @param grant undefined: it had none.
 * @param labels of its nodes, by their names.
 */
export async function holdOperations(
  place: HoldPlace,
  { id, node, version, hold }: StoredHold,
  held: Omit<HeldBuild, 'hosts'>,
  grant: NodeGrant | undefined,
  labels: ReadonlyMap<string, string>,
): Promise<readonly Operation[]> {
  const { build, at } = held;
  const { hosts = [] } = grant ?? {};
  const names = sourcesOf({ hosts });
  const data = holdRequestCodec.encode(withHeld(hold, { ...held, hosts: names }));
  const operations: Operation[] = [set(place.paths.hold(node), data, version)];
  for (const host of names) {
    const made = hosts.filter(each => each.host === host && each.made === true);
    const kept = made.map(each => labels.get(each.node) ?? '');
    const now = { reason: hold.reason, since: at, request: { id, build } };
    const change = (state: HostState | undefined): HostState => {
      if (kept.length > 0) return withKept(state, { request: id, build, since: at, labels: kept });
      return state?.held === undefined ? { ...state, held: now } : withLeftover(state, build, at);
    };
    operations.push(...(await hostStateOperation(place, host, change)));
  }
  return operations;
}

/**
 * Whether a request still holds a build. `unknown`: a process of a newer version wrote it, or nothing can read it.
 *
 * @param node as children of `holds` are called.
 */
export async function holdsBuild(
  { store, paths }: Pick<HoldPlace, 'store'> & { readonly paths: Pick<StorePaths, 'hold'> },
  node: string,
  build: Uuid,
): Promise<'holds' | 'over' | 'unknown'> {
  const read = await settle(store, () => store.get(paths.hold(node)));
  if (read === undefined) return 'over';
  try {
    return holdRequestCodec.decode(read.data).held.some(each => each.build === build) ? 'holds' : 'over';
  } catch (error) {
    if (error instanceof RecordError) return 'unknown';
    throw error;
  }
}

/** Ends the hold of some of its builds, or all of it: an executor cleans their hosts, which then serve again. */
export async function releaseOperations(
  place: HoldPlace,
  { node, version }: StoredHold,
  released: readonly HeldBuild[],
  now: Nanoseconds,
  after: HoldRequest | 'deleted',
): Promise<readonly Operation[]> {
  const path = place.paths.hold(node);
  const operations: Operation[] = [
    after === 'deleted' ? remove(path, version) : set(path, holdRequestCodec.encode(after), version),
  ];
  for (const { build, hosts } of released)
    for (const host of hosts)
      operations.push(
        ...(await hostStateOperation(place, host, state => {
          // A person may have released it, or holds it now.
          if (state?.held?.request?.build !== build) return withoutKept(state, build);
          const { held: _, ...rest } = state;
          return withLeftover(rest, build, now);
        })),
      );
  return operations;
}
