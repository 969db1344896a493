/** `/key/<project>.pub` and `/project-ssh-key/<project>.pub`: the public keys of a project, at Zuul's paths. */
import type { Router } from 'express';
import { type Answer, notFound } from './answer.ts';
import type { WebDeps } from './deps.ts';
import { projectNamed } from './project-named.ts';
import { type FoundTenant, inTenant } from './tenant-access.ts';

/** Seconds after which a client that was refused should ask again. */
const LATER = '15';

/** @param router of a tenant. The keys are made when they are first asked for, one project at a time. */
export function addKeyRoutes(
  router: Router,
  deps: Pick<WebDeps, 'snapshot' | 'tenants' | 'auth' | 'publicKeys'>,
): void {
  router.get(
    '/key/*project.pub',
    inTenant(deps, (tenant, { parameter }) => publicKey(deps, tenant, parameter('project'), 'secrets')),
  );
  router.get(
    '/project-ssh-key/*project.pub',
    inTenant(deps, (tenant, { parameter }) => publicKey(deps, tenant, parameter('project'), 'ssh')),
  );
}

async function publicKey(
  { publicKeys }: Pick<WebDeps, 'publicKeys'>,
  { name, snapshot }: FoundTenant,
  wanted: string,
  use: 'secrets' | 'ssh',
): Promise<Answer> {
  const found = projectNamed(wanted, { name, snapshot });
  if (found.kind === 'refused') return found;
  if (publicKeys === undefined)
    return notFound('this installation has no keys: [keystore] password is not set', 'path');
  const keys = await publicKeys(found.project);
  if (keys !== 'busy') return { kind: 'text', body: use === 'ssh' ? `${keys.ssh}\n` : keys.secrets };
  return {
    kind: 'refused',
    status: 503,
    error: 'the keys of many projects are being made; ask again in a few seconds',
    place: 'path: project',
    headers: { 'Retry-After': LATER },
  };
}
