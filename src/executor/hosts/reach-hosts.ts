/**
 * The hosts of a build, from the moment its executor has taken it: looked at before the build starts, so that no build starts on a host
 * that is not there, and cleaned when it has ended.
 *
 *     const reached = await reachHosts(lease, build, signal);
 *     if (reached.kind === 'failed') …              // given back: the hosts that failed are quarantined, the build waits for others
 *     …
 *     const failures = await leaveHosts(reached.hosts, build);
 */
import type { Uuid } from '../../lib/ids.ts';
import type { NodeGrant, StaticHost } from '../../model/static-host.ts';
import { makePlace, removePlace } from '../../nodes/host-places.ts';
import { connectHost, type HostSession, type PrivateKey, readPrivateKey } from '../../nodes/host-session.ts';

/** A node of a build, and the host that it is. */
export interface ReachedHost {
  /** Its name in the nodeset. */
  readonly node: string;
  readonly host: StaticHost;
  readonly key: PrivateKey;
}

/** A host that is to be quarantined, and why: one line. */
export interface HostFailure {
  readonly host: string;
  readonly reason: string;
  /** Something of the build may be left there. */
  readonly leftover: boolean;
}

/** What the queue knows of a build's hosts. */
export interface HostLease {
  readonly grant: NodeGrant;
  /** By name; one that is gone from `nodes.yaml` is missing. */
  definitions(): Promise<ReadonlyMap<string, StaticHost>>;
  /** Ends the claim: the request waits for hosts again, and these are quarantined, in one write. */
  handBack(failures: readonly HostFailure[]): Promise<void>;
}

export type Reached =
  | { readonly kind: 'reached'; readonly hosts: readonly ReachedHost[] }
  | { readonly kind: 'failed'; readonly failures: readonly HostFailure[] };

/** Removing a directory may take a while. */
export const SESSION_LIMITS = { timeoutMs: 10_000, commandMs: 60_000 };

export async function reachHosts(lease: HostLease, build: Uuid, signal: AbortSignal): Promise<Reached> {
  const definitions = await lease.definitions();
  const looks = lease.grant.hosts.map(async ({ node, host: name }) => {
    const host = definitions.get(name);
    if (host === undefined) return failure(name, 'it is not in the file of nodes any more');
    return await look(node, host, signal);
  });
  const found = await Promise.all(looks);
  const sessions = found.filter(each => 'session' in each);
  const failed = found.filter(each => 'reason' in each);
  try {
    if (failed.length > 0) return { kind: 'failed', failures: failed };
    const made = await Promise.all(
      sessions.map(async ({ host, session }) => {
        const problem = await makePlace(session, build);
        return problem === undefined ? [] : [failure(host.name, problem, true)];
      }),
    );
    if (made.some(each => each.length > 0)) {
      const others = await Promise.all(sessions.map(({ host, session }) => clean(host, session, build)));
      return { kind: 'failed', failures: [...made.flat(), ...others.flat()] };
    }
    return { kind: 'reached', hosts: sessions.map(({ node, host, key }) => ({ node, host, key })) };
  } finally {
    for (const { session } of sessions) session.close();
  }
}

/** Removes what the build left on them. @returns those where that cannot be done. */
export async function leaveHosts(
  hosts: readonly ReachedHost[],
  build: Uuid,
): Promise<readonly HostFailure[]> {
  const failures = hosts.map(async ({ host, key }) => {
    const connected = await connectHost(host, key, SESSION_LIMITS);
    if (connected.kind === 'failed') return [failure(host.name, connected.reason, true)];
    try {
      return await clean(host, connected.session, build);
    } finally {
      connected.session.close();
    }
  });
  return (await Promise.all(failures)).flat();
}

/** Those that do not answer any more. */
export async function lostHosts(hosts: readonly ReachedHost[]): Promise<readonly HostFailure[]> {
  const looks = hosts.map(async ({ host, key }) => {
    const connected = await connectHost(host, key, SESSION_LIMITS);
    if (connected.kind === 'failed') return [failure(host.name, connected.reason, true)];
    connected.session.close();
    return [];
  });
  return (await Promise.all(looks)).flat();
}

async function look(
  node: string,
  host: StaticHost,
  signal: AbortSignal,
): Promise<(ReachedHost & { readonly session: HostSession }) | HostFailure> {
  try {
    const key = await readPrivateKey(host.privateKey);
    const connected = await connectHost(host, key, { ...SESSION_LIMITS, signal });
    if (connected.kind === 'failed') return failure(host.name, connected.reason);
    return { node, host, key, session: connected.session };
  } catch (error) {
    return failure(host.name, error instanceof Error ? error.message : String(error));
  }
}

async function clean(host: StaticHost, session: HostSession, build: Uuid): Promise<readonly HostFailure[]> {
  const problem = await removePlace(session, build);
  return problem === undefined ? [] : [failure(host.name, problem, true)];
}

function failure(host: string, reason: string, leftover = false): HostFailure {
  return { host, reason, leftover };
}
