/**
 * The hosts of a build that failed, where a person asked to hold them: nothing is removed there, and no build is given a place on them
 * until the request expires or is deleted. A build without hosts has its workspace held (`held/`).
 */
import type { Uuid } from '../../lib/ids.ts';
import type { BuildRequest } from '../../model/build-request.ts';
import type { FailedBuild } from '../../model/hold-request.ts';
import type { Json } from '../../model/job.ts';
import type { BuildResult } from '../../model/results.ts';
import { type NodeGrant, sourcesOf } from '../../model/static-host.ts';
import { type HoldPlace, holdOperations, readHolds, type StoredHold } from '../../nodes/hold-requests.ts';
import type { Operation } from '../../store/port.ts';
import type { HostsAfter } from '../deps.ts';
import { type LeaseDeps, withTroubles } from './host-lease.ts';

/** Results after which hosts are held, as in Zuul; a build that is tried again is none of them. */
const FAILED: ReadonlySet<BuildResult> = new Set(['FAILURE', 'POST_FAILURE', 'TIMED_OUT']);

export function isHeldAfter(result: BuildResult): boolean {
  return FAILED.has(result);
}

/** As the job's variables have it. */
export function failedBuildOf({ tenant, jobName, zuul }: BuildRequest): FailedBuild {
  const project = textOf(memberOf(zuul.project, 'canonical_name'));
  const [change, ref] = [zuul.change, zuul.ref].map(textOf);
  return { tenant, project: project ?? '', job: jobName, change, ref };
}

function memberOf(value: Json | undefined, name: string): Json | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as { readonly [name: string]: Json })[name]
    : undefined;
}

function textOf(value: Json | undefined): string | undefined {
  return typeof value === 'string' ? value : typeof value === 'number' ? String(value) : undefined;
}

/** For the log of the build, and the reason of its result. @param what the hosts, or where the workspace is. */
export function heldText({ id, hold: { by, reason } }: StoredHold, what: string): string {
  return `held for hold request ${id} of ${by} (${reason}): ${what}`;
}

/** What a build has, and the labels by the names of its nodes. */
interface HeldNodes {
  readonly build: Uuid;
  readonly granted: NodeGrant | undefined;
  readonly labels: ReadonlyMap<string, string>;
}

/** Writes with the operations for the hosts, or for the workspace, again where another writer changed one of them meanwhile. */
export async function withHostsAfter<T>(
  deps: LeaseDeps & HoldPlace,
  { failures = [], hold, workspace }: HostsAfter,
  { build, granted, labels }: HeldNodes,
  write: (operations: readonly Operation[]) => Promise<T>,
): Promise<T> {
  if (hold === undefined || (granted === undefined && workspace === undefined))
    return await withTroubles(deps, async () => failures, build, write);
  // What a provider made is deleted, once the build is gone and nothing keeps it.
  const hosts =
    granted === undefined ? [] : sourcesOf({ hosts: granted.hosts.filter(({ made }) => made === undefined) });
  const held = { build, ...(workspace === undefined ? {} : { workspace }) };
  return await withTroubles(
    deps,
    async () => {
      const current = (await readHolds(deps, hold.hold.tenant)).find(({ id }) => id === hold.id);
      if (current !== undefined && current.hold.count < current.hold.maxCount)
        return await holdOperations(deps, current, { ...held, at: deps.clock.now() }, granted, labels);
      // It was deleted, or another build was first: they are cleaned, and the executor removes the workspace.
      const reason = `the hosts of build ${build} were to be held for a request that is gone`;
      return hosts.map(host => ({ host, reason, leftover: true }));
    },
    build,
    write,
  );
}
