/** What administrators and those who push directly do: projects, accounts, branches, tags. */
import path from 'node:path';
import { commitFiles, createGerritRepository, git, gitWith, tipOf } from '../bare-git.ts';
import { defaultAccess, defaultLabels, defaultRequirements } from '../defaults.ts';
import { moveRef } from '../doing/move-ref.ts';
import { projectCreated } from '../events.ts';
import {
  type Access,
  accountNamed,
  type FakeAccount,
  type FakeProject,
  type FakeSubmitType,
  type GerritWorld,
  type LabelType,
  projectNamed,
  type RequirementRule,
} from '../world.ts';

export type Files = { readonly [path: string]: string | null };

export interface ProjectRequest {
  readonly files?: Files;
  /** Without `refs/heads/`; absent: `master`. */
  readonly branch?: string;
  readonly submitType?: FakeSubmitType;
  readonly labels?: readonly LabelType[];
  readonly requirements?: readonly RequirementRule[];
  readonly access?: Partial<Access>;
}

export interface AccountRequest {
  readonly name?: string;
  readonly email?: string;
  readonly password?: string;
  readonly token?: string;
  readonly groups?: readonly string[];
  readonly capabilities?: readonly string[];
}

export interface ProjectDeeds {
  /** Makes it, with one commit on its branch. */
  project(name: string, request?: ProjectRequest): Promise<FakeProject>;
  /** Makes it. `alice`, `bob`, `admin` (of Administrators) and `gatehouse` (of CI, with `streamEvents`) are there. */
  account(username: string, request?: AccountRequest): FakeAccount;
  /** One commit, directly on the branch; rules do not hold it up. A new branch starts at `from` or HEAD. @returns the commit */
  pushBranch(
    project: string,
    branch: string,
    files: Files,
    more?: { message?: string; as?: string; from?: string },
  ): Promise<string>;
  /** Moves, makes or (null) deletes a branch or tag. @param ref full name */
  setRef(project: string, ref: string, commit: string | null, as?: string): Promise<void>;
  /** @param from branch or commit; absent: HEAD */
  createBranch(project: string, branch: string, from?: string, as?: string): Promise<void>;
  deleteBranch(project: string, branch: string, as?: string): Promise<void>;
  /** An annotated tag. @returns its object's id */
  tag(project: string, name: string, of?: string, as?: string): Promise<string>;
  setHead(project: string, branch: string): Promise<void>;
  /** Commit of a branch; absent: of HEAD. */
  tip(project: string, branch?: string): Promise<string>;
  /** Tree of a commit or a branch's tip. */
  tree(project: string, revision?: string): Promise<string>;
}

export function projectDeeds(world: GerritWorld): ProjectDeeds {
  const revision = (project: FakeProject, name: string) =>
    git(project.dir, 'rev-parse', '--verify', '--end-of-options', `${name}^{commit}`);
  const setRef = (name: string, ref: string, commit: string | null, as = 'admin') =>
    world.exclusively(() =>
      moveRef(world, { project: projectNamed(world, name), ref, after: commit, by: accountNamed(world, as) }),
    );
  return {
    project: (name, request = {}) => world.exclusively(() => createProject(world, name, request)),
    account: (username, request = {}) => createAccount(world, username, request),
    setRef,
    async pushBranch(
      name,
      branch,
      files,
      { message = `Change ${Object.keys(files).join(', ')}`, as = 'admin', from } = {},
    ) {
      const project = projectNamed(world, name);
      const by = accountNamed(world, as);
      const parent = (await tipOf(project.dir, branch)) ?? (await revision(project, from ?? project.head));
      const commit = await commitFiles(project.dir, {
        parents: [parent],
        files,
        message: `${message}\n`,
        by,
        at: world.now(),
      });
      await setRef(name, `refs/heads/${branch}`, commit, as);
      return commit;
    },
    async createBranch(name, branch, from, as) {
      const project = projectNamed(world, name);
      await setRef(name, `refs/heads/${branch}`, await revision(project, from ?? project.head), as);
    },
    deleteBranch: (name, branch, as) => setRef(name, `refs/heads/${branch}`, null, as),
    async tag(name, tag, of, as = 'admin') {
      const project = projectNamed(world, name);
      const commit = await revision(project, of ?? project.head);
      const { name: who, email } = accountNamed(world, as);
      const text = `object ${commit}\ntype commit\ntag ${tag}\ntagger ${who} <${email}> ${Math.trunc(world.now() / 1000)} +0000\n\n${tag}\n`;
      const id = await gitWith(project.dir, ['mktag'], { input: text });
      await setRef(name, `refs/tags/${tag}`, id, as);
      return id;
    },
    async setHead(name, branch) {
      const project = projectNamed(world, name);
      await git(project.dir, 'symbolic-ref', 'HEAD', `refs/heads/${branch}`);
      project.head = branch;
    },
    async tip(name, branch) {
      const project = projectNamed(world, name);
      const found = await tipOf(project.dir, branch ?? project.head);
      if (found === undefined) throw new Error(`${name} has no branch ${branch}`);
      return found;
    },
    tree(name, wanted) {
      const project = projectNamed(world, name);
      return git(project.dir, 'rev-parse', `${wanted ?? project.head}^{tree}`);
    },
  };
}

async function createProject(
  world: GerritWorld,
  name: string,
  request: ProjectRequest,
): Promise<FakeProject> {
  const {
    files = { 'README.md': `${name}\n` },
    branch = 'master',
    submitType = 'MERGE_IF_NECESSARY',
  } = request;
  const project: FakeProject = {
    name,
    dir: path.join(world.root, `${world.nextId()}.git`),
    head: branch,
    submitType,
    labels: [...(request.labels ?? defaultLabels(world.version))],
    requirements: [...(request.requirements ?? defaultRequirements(world.version, request.labels))],
    access: { ...defaultAccess(), ...request.access },
    requireChangeId: true,
    state: 'ACTIVE',
  };
  await createGerritRepository(project.dir, branch);
  const by = accountNamed(world, 'admin');
  const message = 'Initial empty repository\n';
  const first = await commitFiles(project.dir, { parents: [], files, message, by, at: world.now() });
  world.projects.set(name, project);
  await moveRef(world, { project, ref: `refs/heads/${branch}`, after: first, by });
  world.emit(projectCreated(world, project));
  return project;
}

function createAccount(world: GerritWorld, username: string, request: AccountRequest): FakeAccount {
  const account: FakeAccount = {
    id: 1_000_000 + world.accounts.size,
    username,
    name: request.name ?? `${username[0]?.toUpperCase()}${username.slice(1)}`,
    email: request.email ?? `${username}@example.org`,
    httpPassword: request.password ?? `${username}-password`,
    token: request.token ?? `git-${username}-token`,
    groups: new Set(request.groups ?? []),
    capabilities: new Set(request.capabilities ?? []),
  };
  world.accounts.set(username, account);
  return account;
}
