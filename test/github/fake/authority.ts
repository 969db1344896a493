/** What an actor may do: permissions of an installation's token, roles of a person. */
import type { Actor } from './actor.ts';
import { notFound, RequestRefused } from './refused.ts';
import { mayWrite, type Repository, roleOf, type World } from './world.ts';

type Level = 'read' | 'write' | 'admin';
const LEVELS: readonly Level[] = ['read', 'write', 'admin'];

/** Permission of an App, in the words of its settings. Operations that are not here need none beyond `metadata`. */
const NEEDED: { readonly [operation: string]: readonly [permission: string, level: Level] } = {
  'checks/create': ['checks', 'write'],
  'checks/update': ['checks', 'write'],
  'checks/get': ['checks', 'read'],
  'checks/list-for-ref': ['checks', 'read'],
  'checks/list-annotations': ['checks', 'read'],
  'checks/rerequest-run': ['checks', 'write'],
  'git/get-ref': ['contents', 'read'],
  'git/get-commit': ['contents', 'read'],
  'git/create-ref': ['contents', 'write'],
  'git/update-ref': ['contents', 'write'],
  'git/delete-ref': ['contents', 'write'],
  'issues/create-comment': ['pull_requests', 'write'],
  'issues/update-comment': ['pull_requests', 'write'],
  'issues/delete-comment': ['pull_requests', 'write'],
  'issues/list-comments': ['pull_requests', 'read'],
  'issues/get-comment': ['pull_requests', 'read'],
  'issues/add-labels': ['pull_requests', 'write'],
  'issues/remove-label': ['pull_requests', 'write'],
  'issues/list-labels-on-issue': ['pull_requests', 'read'],
  'reactions/create-for-issue-comment': ['pull_requests', 'write'],
  'reactions/list-for-issue-comment': ['pull_requests', 'read'],
  'pulls/list': ['pull_requests', 'read'],
  'pulls/get': ['pull_requests', 'read'],
  'pulls/list-files': ['pull_requests', 'read'],
  'pulls/list-commits': ['pull_requests', 'read'],
  'pulls/list-reviews': ['pull_requests', 'read'],
  'pulls/update': ['pull_requests', 'write'],
  'pulls/create-review': ['pull_requests', 'write'],
  'pulls/dismiss-review': ['pull_requests', 'write'],
  'pulls/merge': ['contents', 'write'],
  'repos/list-branches': ['contents', 'read'],
  'repos/get-branch': ['contents', 'read'],
  'repos/get-branch-protection': ['administration', 'read'],
  'repos/get-commit': ['contents', 'read'],
  'repos/list-commits': ['contents', 'read'],
  'repos/compare-commits': ['contents', 'read'],
  'repos/create-commit-status': ['statuses', 'write'],
  'repos/get-combined-status-for-ref': ['statuses', 'read'],
  'repos/list-commit-statuses-for-ref': ['statuses', 'read'],
  'repos/list-webhooks': ['repository_hooks', 'read'],
  'repos/list-webhook-deliveries': ['repository_hooks', 'read'],
  'repos/get-webhook-delivery': ['repository_hooks', 'read'],
  'repos/redeliver-webhook-delivery': ['repository_hooks', 'write'],
};

/** Operations of the App itself, for which its JWT is needed. */
const OF_THE_APP = new Set([
  'apps/get-authenticated',
  'apps/list-installations',
  'apps/get-installation',
  'apps/create-installation-access-token',
  'apps/get-repo-installation',
  'apps/get-org-installation',
  'apps/get-webhook-config-for-app',
  'apps/list-webhook-deliveries',
  'apps/get-webhook-delivery',
  'apps/redeliver-webhook-delivery',
]);

const FOR_ANYONE = new Set(['meta/get', 'rate-limit/get', 'apps/create-from-manifest']);

/** Comments and reviews are open to people who can read; these are not. */
const FOR_WRITERS =
  /^(git\/(create|update|delete)-ref|issues\/(add|remove)-label|pulls\/(merge|update|dismiss)|repos\/create-commit-status)/;

/** Throws GitHub's refusal. @param repository absent: the operation is of no repository */
export function checkAuthority(operation: string, actor: Actor, repository: Repository | undefined): void {
  if (FOR_ANYONE.has(operation)) return;
  if (actor.kind === 'anonymous') throw new RequestRefused(401, 'Requires authentication');
  if (OF_THE_APP.has(operation)) {
    if (actor.kind !== 'app') throw new RequestRefused(401, 'A JSON web token could not be decoded');
    return;
  }
  if (actor.kind === 'app') throw new RequestRefused(403, 'Resource not accessible by integration');
  if (repository === undefined) return;
  if (actor.kind === 'user') checkRole(operation, actor.login, repository);
  else checkPermission(operation, actor, repository);
}

function checkRole(operation: string, login: string, repository: Repository): void {
  if (roleOf(repository, login) === 'none') throw notFound();
  if (/^checks\/(create|update)$/.test(operation))
    throw new RequestRefused(403, 'You must authenticate via a GitHub App.');
  const administers = operation === 'repos/get-branch-protection' || /webhook/.test(operation);
  if (administers && roleOf(repository, login) !== 'admin') throw notFound();
  if (FOR_WRITERS.test(operation) && !mayWrite(repository, login))
    throw new RequestRefused(403, 'Must have admin rights to Repository.');
}

function checkPermission(
  operation: string,
  actor: Extract<Actor, { kind: 'installation' }>,
  repository: Repository,
): void {
  if (!covers(actor, repository)) throw notFound();
  const [permission, level] = NEEDED[operation] ?? ['metadata', 'read'];
  if (permission === 'metadata' || allows(actor, permission, level)) return;
  // GitHub takes either permission for what pull requests share with issues.
  if (/^(issues|reactions)\//.test(operation) && allows(actor, 'issues', level)) return;
  throw new RequestRefused(403, 'Resource not accessible by integration', {
    headers: { 'x-accepted-github-permissions': `${permission}=${level}` },
  });
}

/** Whether a token is for a repository. */
export function covers(actor: Extract<Actor, { kind: 'installation' }>, repository: Repository): boolean {
  const { installation, repositories } = actor;
  const installed =
    installation.account.toLowerCase() === repository.owner.toLowerCase() &&
    (installation.repositories === null || installation.repositories.has(repository.id));
  return installed && (repositories === null || repositories.has(repository.id));
}

export function allows(
  actor: Extract<Actor, { kind: 'installation' }>,
  permission: string,
  level: Level,
): boolean {
  const given = actor.permissions[permission];
  return given !== undefined && LEVELS.indexOf(given) >= LEVELS.indexOf(level);
}

/** Whether git may be read or written with these credentials. */
export function mayUseGit(world: World, actor: Actor, repository: Repository, writes: boolean): boolean {
  if (actor.kind === 'user')
    return writes ? mayWrite(repository, actor.login) : roleOf(repository, actor.login) !== 'none';
  if (actor.kind !== 'installation' || actor.installation.suspended) return false;
  if (world.installations.get(actor.installation.id) === undefined) return false;
  return covers(actor, repository) && allows(actor, 'contents', writes ? 'write' : 'read');
}
