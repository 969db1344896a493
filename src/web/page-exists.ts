/** Whether there is something to show at an address of the page, for the status of its answer. */
import { pause } from '../lib/pause.ts';
import type { Place } from '../model/page-place.ts';
import { isHidden } from './auth/permission.ts';
import type { WebDeps } from './deps.ts';
import { projectNamed } from './project-named.ts';
import { type FoundTenant, findBuild, findBuildset, findItemOfTenant } from './tenant-access.ts';

type ExistsDeps = Pick<WebDeps, 'auth' | 'tenants' | 'snapshot' | 'history' | 'leavingItems' | 'log'>;

/** Milliseconds to find out; a page is not kept waiting for a slow history. */
const PATIENCE_MS = 2000;

/**
 * A browser sends no token with an address, so the pages of a tenant that not all may read all exist. Likewise when it
 * cannot be known: before the service knows its tenants, and while the history does not answer.
 */
export async function pageExists(deps: ExistsDeps, place: Place): Promise<boolean> {
  if (place.page === 'none') return true;
  const { tenant: name } = place;
  if (deps.tenants().length === 0 || isHidden(deps.auth.rules, name)) return true;
  const snapshot = deps.snapshot(name);
  if (snapshot === undefined) return deps.tenants().includes(name);
  if (place.page === 'unknown') return false;
  const answered = new AbortController();
  try {
    return await Promise.race([
      existsIn({ kind: 'found', name, snapshot }, place, deps),
      pause(PATIENCE_MS, answered.signal).then(() => true),
    ]);
  } catch (error) {
    deps.log.warn({ err: error, page: place.page }, 'whether a page exists could not be found out');
    return true;
  } finally {
    answered.abort();
  }
}

async function existsIn(
  tenant: FoundTenant,
  place: Exclude<Place, { page: 'none' }>,
  deps: ExistsDeps,
): Promise<boolean> {
  switch (place.page) {
    case 'item':
      return (await findItemOfTenant(deps, tenant, place.uuid)).kind === 'item';
    case 'build':
      return (await findBuild(deps, tenant, place.uuid)) !== undefined;
    case 'buildset':
      return (await findBuildset(deps, tenant, place.uuid)) !== undefined;
    case 'pipeline':
      return tenant.snapshot.pipelines.some(({ pipeline }) => pipeline.name === place.name);
    case 'project':
      return projectNamed(place.name, tenant).kind === 'project';
    case 'job':
      return (
        tenant.snapshot.jobs.some(({ name }) => name === place.name) ||
        (await deps.history.recentRuns({ tenant: tenant.name, job: place.name, limit: 1 })).length > 0
      );
    case 'unknown':
      return false;
    default:
      return true;
  }
}
