/**
 * Labels and permissions of the whole site, as the tutorial describes them: `project.config` of All-Projects, pushed by the admin.
 *
 * In one section the first rule of a group wins, so a label that gets a wider range loses its default rules.
 */
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Json } from '../../../src/model/job.ts';
import { createGitRepository, runGit } from '../../fake/git-repository.ts';
import { type Account, type Ask, askWell, basicAuthorization } from './account.ts';

const CONFIG = 'refs/meta/config';
const BRANCHES = 'access.refs/heads/*';
const PEOPLE = 'group Registered Users';
const ADMINISTRATORS = 'Administrators';

/** Values of a setting. `add`: beside those that it has. */
type Setting = readonly [name: string, values: readonly string[], add?: 'add'];

/** A group of our account. */
export interface RobotGroup {
  readonly name: string;
  readonly uuid: string;
}

/** @throws Error with Gerrit's words when the admin may not do that. */
export async function configureLabels(
  site: { readonly url: string; readonly version: string; readonly ask: Ask; readonly admin: Account },
  robots: RobotGroup,
): Promise<void> {
  await mayPushConfig(site.ask, site.admin);
  await using repository = await createGitRepository();
  const remote = `${site.url}/a/All-Projects`;
  const access = gitAccess(site.admin);
  await repository.raw(['fetch', '--quiet', remote, `${CONFIG}:refs/heads/config`], '', access);
  const parent = await repository.tip('refs/heads/config');
  const text = async (file: string) =>
    (await repository.raw(['cat-file', 'blob', `${parent}:${file}`])).toString();
  const file = path.join(repository.path, 'project.config');
  await writeFile(file, await text('project.config'));
  for (const setting of settings(robots.name, hasSubmitRequirements(site.version))) await set(file, setting);
  const commit = await repository.commit({
    ref: 'refs/heads/config',
    parents: [parent],
    message: 'Labels and permissions for the gate\n',
    files: {
      'project.config': await readFile(file, 'utf8'),
      groups: `${(await text('groups')).trimEnd()}\n${robots.uuid}\t${robots.name}\n`,
    },
  });
  await repository.raw(['push', '--quiet', remote, `${commit}:${CONFIG}`], '', access);
}

/** Of a new site not even administrators have the rights. */
async function mayPushConfig(ask: Ask, admin: Account): Promise<void> {
  const uuid = groupUuid(await askWell(ask, admin, 'GET', `groups/${ADMINISTRATORS}`));
  const allowed = { rules: { [uuid]: { action: 'ALLOW' } } };
  const permissions = { push: allowed, forgeAuthor: allowed, forgeCommitter: allowed };
  await askWell(ask, admin, 'POST', 'projects/All-Projects/access', { add: { [CONFIG]: { permissions } } });
}

/** @param group Gerrit's GroupInfo. @throws Error when it is none */
export function groupUuid(group: Json): string {
  const id = typeof group === 'object' && group !== null && 'id' in group ? group.id : undefined;
  if (typeof id !== 'string') throw new Error(`no group: ${JSON.stringify(group)}`);
  return decodeURIComponent(id);
}

/**
 * By default since 3.6 (3.5 has them as an experiment, and answers `[]`); later versions accept no label that decides by its function.
 * One that was put together by hand may say `(dev)`: it counts as new.
 */
export function hasSubmitRequirements(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(part => Number.parseInt(part, 10));
  return !(major < 3 || (major === 3 && minor < 6));
}

/** Environment of a git that asks as this account. */
export function gitAccess(account: Account): Readonly<Record<string, string>> {
  return {
    GIT_CONFIG_COUNT: '1',
    GIT_CONFIG_KEY_0: 'http.extraHeader',
    GIT_CONFIG_VALUE_0: `Authorization: ${basicAuthorization(account)}`,
    GIT_TERMINAL_PROMPT: '0',
  };
}

function settings(robots: string, submitRequirements: boolean): readonly Setting[] {
  const ours = `group ${robots}`;
  return [
    ['capability.streamEvents', [ours], 'add'],
    ['label.Verified.function', [submitRequirements ? 'NoBlock' : 'MaxWithBlock']],
    ['label.Verified.defaultValue', ['0']],
    [
      'label.Verified.value',
      ['-2 Fails', '-1 Fails in check', '0 No score', '+1 Works in check', '+2 Works'],
    ],
    ...(submitRequirements
      ? [
          [
            'submit-requirement.Verified.submittableIf',
            ['label:Verified=MAX AND -label:Verified=MIN'],
          ] as const,
        ]
      : []),
    ['label.Workflow.function', ['NoBlock']],
    ['label.Workflow.defaultValue', ['0']],
    ['label.Workflow.value', ['-1 Work in progress', '0 Ready for reviews', '+1 Approved']],
    [`${BRANCHES}.label-Verified`, [`-2..+2 ${ours}`]],
    [`${BRANCHES}.label-Workflow`, [`-1..+1 ${PEOPLE}`]],
    [`${BRANCHES}.label-Code-Review`, [`-2..+2 ${PEOPLE}`]],
    [`${BRANCHES}.submit`, [ours], 'add'],
    [`${BRANCHES}.push`, [`group ${ADMINISTRATORS}`], 'add'],
    // Commits of tests name neither of the accounts.
    [`${BRANCHES}.forgeAuthor`, [PEOPLE]],
    [`${BRANCHES}.forgeCommitter`, [PEOPLE]],
    ['access.refs/*.read', [ours], 'add'],
  ];
}

async function set(file: string, [name, values, add]: Setting): Promise<void> {
  const config = (...args: readonly string[]) => runGit(path.dirname(file), ['config', '-f', file, ...args]);
  const [first = '', ...more] = values;
  await config(add === undefined ? '--replace-all' : '--add', name, first);
  for (const value of more) await config('--add', name, value);
}
