/**
 * From a directory and a name to a build that can be run: what is run, of which projects, with which configuration.
 *
 *     checkouts → states in mirrors → configuration → job → build request
 *
 * Commits of the checkouts come from them; those of the tenant's other projects are fetched from their code hosts when the build needs
 * them.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Connection } from '../../driver/connection.ts';
import { findRemote } from '../../driver/find-remote.ts';
import type { Repositories } from '../../executor/deps.ts';
import { obtainedRepositories } from '../../executor/obtain-commit.ts';
import type { ProjectKeysForSecrets } from '../../executor/playbook-secrets.ts';
import { createGit, type Git } from '../../git/process/git.ts';
import { openRepositoryCache, type RepositoryCache } from '../../git/repository-cache.ts';
import { NotAWorkTree, openWorkTree, type WorkTree } from '../../git/work-tree.ts';
import type { LayoutInput } from '../../layout/build/build-layout.ts';
import { canonicalNameIn } from '../../layout/tenant/resolve-project.ts';
import type { Clock } from '../../lib/clock.ts';
import { randomIds } from '../../lib/ids.ts';
import { readConfig } from '../../merger/config-files.ts';
import { configAt } from '../../merger/read-changed-config.ts';
import type { BuildRequest } from '../../model/build-request.ts';
import type { BranchConfig } from '../../model/merge.ts';
import {
  type BranchName,
  type ConnectionName,
  type ProjectKey,
  parseCommitId,
  projectIdOf,
  projectKey,
} from '../../model/project.ts';
import type { Settings } from '../../settings/settings.ts';
import { openAll } from '../commands/check-config.ts';
import { type Refused, refused } from '../commands/refused.ts';
import { gitBounds } from '../service/git-bounds.ts';
import { type CheckoutState, stateOfChange, stateOfWorkTree } from './checkout-state.ts';
import { type ChosenJob, chooseJob } from './choose-job.ts';
import { fillSecrets } from './given-secrets.ts';
import { localRequest, secretsOf } from './local-request.ts';
import { lastName, pathOfUrl, projectOfUrl } from './project-of-url.ts';
import { aloneInput, OWN_PROJECT, tenantInput } from './run-layout.ts';

/** What a person asked for. */
export interface RunQuestion {
  readonly job: string;
  /** A checkout, or a directory below one. */
  readonly directory: string;
  readonly change: string | undefined;
  readonly project: string | undefined;
  readonly branch: string | undefined;
  readonly pipeline: string | undefined;
  /** Further checkouts, by the name of their project. */
  readonly checkouts: ReadonlyMap<string, string>;
  readonly secrets: string | undefined;
}

/** Where configuration and other projects come from; undefined: the checkouts are all there is. */
export type TenantOfRun = { readonly settings: Settings; readonly input: LayoutInput } | undefined;

/** Ready for an executor. Its mirrors are open until it is disposed of. */
export interface PreparedRun extends AsyncDisposable {
  readonly kind: 'run';
  readonly request: BuildRequest;
  readonly repositories: Repositories;
  readonly secretKeys: ProjectKeysForSecrets;
  readonly chosen: ChosenJob;
  readonly canonicalName: string;
  readonly root: string;
  readonly branch: BranchName;
  readonly state: CheckoutState;
  /** Canonical names of other projects that are taken from checkouts. */
  readonly others: readonly string[];
}

interface Places {
  /** Exists; for this run alone. */
  readonly directory: string;
  /** Mirrors, kept from run to run. */
  readonly gitDir: string;
  readonly clock: Clock;
}

/** @param settings of merges, for their bounds. */
export async function prepareRun(
  question: RunQuestion,
  tenant: TenantOfRun,
  settings: Pick<Settings, 'merger'>,
  places: Places,
): Promise<PreparedRun | Refused> {
  await using opening = new AsyncDisposableStack();
  const { merger } = settings;
  const git = createGit({
    identity: { name: merger.gitUserName, email: merger.gitUserEmail },
    ...gitBounds(merger),
  });
  const mirrors = opening.use(await openRepositoryCache({ root: places.gitDir, git }));
  const connections =
    tenant === undefined ? new Map<ConnectionName, Connection>() : await openAll(tenant.settings, mirrors);
  for (const connection of connections.values()) opening.defer(() => connection.close());
  const scratch = await mkdtemp(join(places.directory, 'checkouts-'));
  opening.defer(() => rm(scratch, { recursive: true, force: true }));
  try {
    const prepared = await prepare(question, tenant, {
      git,
      mirrors,
      connections,
      scratch,
      clock: places.clock,
    });
    if (prepared.kind === 'refused') return prepared;
    const lifetime = opening.move();
    return { ...prepared, [Symbol.asyncDispose]: () => lifetime.disposeAsync() };
  } catch (error) {
    if (error instanceof NotAWorkTree) return refused(error.message);
    throw error;
  }
}

interface Tools {
  readonly git: Git;
  readonly mirrors: RepositoryCache;
  readonly connections: ReadonlyMap<ConnectionName, Connection>;
  readonly scratch: string;
  readonly clock: Clock;
}

async function prepare(
  question: RunQuestion,
  tenant: TenantOfRun,
  tools: Tools,
): Promise<Omit<PreparedRun, typeof Symbol.asyncDispose> | Refused> {
  const own = await readCheckout(question, tenant, tools, { name: 'own', host: 'localhost' });
  if (own.kind === 'refused') return own;
  const others: Checkout[] = [];
  for (const [name, directory] of question.checkouts) {
    const other = await readCheckout(
      { ...question, directory, project: name, change: undefined, branch: undefined },
      tenant,
      tools,
      { name: String(others.length), host: projectIdOf(own.config.project).connection },
    );
    if (other.kind === 'refused') return other;
    others.push(other);
  }
  const configs = [own, ...others].map(({ config }) => config);
  const input = tenant === undefined ? aloneInput(configs) : tenantInput(tenant.input, configs);
  const { project, branch } = own.config;
  const wanted = { job: question.job, project, branch, pipeline: question.pipeline };
  const chosen = chooseJob(input, wanted);
  if (chosen.kind === 'refused') return chosen;
  const given = await fillSecrets(secretsOf(chosen), question.secrets);
  if (given.kind === 'refused') return given;
  const heads = input.configs.filter(each => each.project !== OWN_PROJECT);
  const build = { chosen, wanted, state: own.state, heads, id: question.change ?? 'work-tree' };
  const local = localRequest({ ...build, now: tools.clock.now(), ids: randomIds() }, given.secrets);
  if (local.kind === 'refused') return local;
  const nameOf = (each: ProjectKey) => canonicalNameIn(each, input.tenant);
  return {
    kind: 'run',
    request: local.request,
    secretKeys: given.keys,
    repositories: obtainedRepositories({
      repositories: tools.mirrors,
      remote: findRemote(tools.connections),
      readItem: async () => local.item,
    }),
    ...{ chosen, branch, state: own.state, root: own.tree.root },
    canonicalName: nameOf(project),
    others: others.map(({ config }) => nameOf(config.project)),
  };
}

interface Checkout {
  readonly kind: 'checkout';
  readonly tree: WorkTree;
  readonly state: CheckoutState;
  readonly config: BranchConfig;
}

type Wanted = Pick<RunQuestion, 'directory' | 'project' | 'branch' | 'change'>;

/** @param place its name is unique among the checkouts of the run. */
async function readCheckout(
  { directory, change, ...named }: Wanted,
  tenant: TenantOfRun,
  { git, mirrors, scratch }: Tools,
  place: { readonly name: string; readonly host: string },
): Promise<Checkout | Refused> {
  const bare = join(scratch, `${place.name}.git`);
  const tree = await openWorkTree(git, directory, bare);
  const project =
    tenant === undefined
      ? aloneProject(tree, named.project, place.host)
      : tenantProject(tree, named.project, tenant.input);
  if (typeof project !== 'string') return project;
  const branch = named.branch ?? (await branchOf(tree, project, tenant));
  const { connection, name } = projectIdOf(project);
  const mirror = await mirrors.repository(connection, name);
  const state =
    change === undefined
      ? await stateOfWorkTree(tree, mirror, bare)
      : await stateOfChange(tree, mirror, bare, { change, branch });
  if (state.kind === 'refused') return state;
  const commit = parseCommitId(state.commit);
  const extra = tenant?.input.tenant.projects.find(each => each.project === project)?.extraConfigPaths ?? [];
  const files = await readConfig(mirror.reader, await configAt(mirror.reader, commit, extra));
  return { kind: 'checkout', tree, state, config: { project, branch, commit, files } };
}

/** Named by its origin, as Zuul names projects: `github.com/acme/app`. @param host of names without one, where there is no origin. */
function aloneProject(tree: WorkTree, wanted: string | undefined, host: string): ProjectKey | Refused {
  const origin = tree.originUrl === undefined ? undefined : projectOfUrl(tree.originUrl);
  const ownHost = origin?.host ?? host;
  if (wanted === undefined)
    return projectKey({ connection: ownHost, name: origin?.name ?? lastName(tree.root) });
  const [first = '', ...rest] = wanted.split('/');
  if ([first, ...rest].includes('')) return refused(`"${wanted}" is no name of a project`);
  // As in canonical names: what begins with a host has a dot there.
  if (rest.length > 0 && HOST.test(first)) return projectKey({ connection: first, name: rest.join('/') });
  return projectKey({ connection: ownHost, name: wanted });
}

const HOST = /^[a-z0-9-]+(\.[a-z0-9-]+)+$/i;

/** The tenant's project whose name the address of the origin ends with; of several the longest. */
function tenantProject(
  tree: WorkTree,
  wanted: string | undefined,
  { tenant }: LayoutInput,
): ProjectKey | Refused {
  const all = tenant.projects.map(({ project }) => project);
  const fitting = all.filter(project => {
    const { name } = projectIdOf(project);
    if (wanted !== undefined) return [name, project, canonicalNameIn(project, tenant)].includes(wanted);
    const path = tree.originUrl === undefined ? lastName(tree.root) : pathOfUrl(tree.originUrl);
    return path === name || path.endsWith(`/${name}`);
  });
  const longest = Math.max(...fitting.map(project => projectIdOf(project).name.length));
  const [first, second] = fitting.filter(project => projectIdOf(project).name.length === longest);
  if (first === undefined)
    return refused(
      `${wanted === undefined ? `the origin of ${tree.root}` : `"${wanted}"`} is no project of tenant ${tenant.name}; name one with --project`,
    );
  if (second !== undefined)
    return refused(`${tree.root} may be ${first} or ${second}; name one of them with --project`);
  return first;
}

/** The branch that the checkout is on where its host has it, else the default one. */
async function branchOf(tree: WorkTree, project: ProjectKey, tenant: TenantOfRun): Promise<BranchName> {
  const { branch: current, originBranch } = tree;
  const known = tenant?.input.configs.filter(each => each.project === project).map(({ branch }) => branch);
  const isKnown = async (branch: string) =>
    known === undefined
      ? originBranch === undefined || (await tree.commitOf(`refs/remotes/origin/${branch}`)) !== undefined
      : known.includes(branch);
  if (current !== undefined && (await isKnown(current))) return current;
  for (const branch of [originBranch, 'master', 'main'])
    if (branch !== undefined && (await isKnown(branch))) return branch;
  return current ?? 'master';
}
