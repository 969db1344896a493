/** What owners and pushers do: repositories, forks, branches, tags, rules, roles, renames. Each deed resolves when its webhooks were answered. */
import path from 'node:path';
import { commitFiles, createBareRepository, git, refsOf, tipOf } from '../bare-git.ts';
import { NO_RULES } from '../contexts.ts';
import { noticeRefs } from '../refs-moved.ts';
import type { Hub } from '../rest/call.ts';
import {
  changePull,
  fullName,
  idOf,
  type Repository,
  type Role,
  type Rules,
  type Ruleset,
  timestamp,
} from '../world.ts';

export interface PushRequest {
  /** Content by path; null removes. */
  readonly files: { readonly [path: string]: string | null };
  readonly message?: string;
  readonly user?: string;
  /** Commit or branch that a new branch starts from; absent: the default branch. */
  readonly from?: string;
  /** The branch loses what it has: the commit is made on `from`. */
  readonly force?: boolean;
}

export interface RepositoryDeeds {
  /** Makes `owner/name` with one commit on its default branch. */
  repository(
    name: string,
    options?: { files?: PushRequest['files']; defaultBranch?: string },
  ): Promise<Repository>;
  fork(of: Repository, owner: string): Promise<Repository>;
  deleteRepository(repository: Repository): void;
  setRole(repository: Repository, login: string, role: Role): void;
  /** A push with one commit, made at the host: rules do not hold it up. @returns the commit */
  push(repository: Repository, branch: string, request: PushRequest): Promise<string>;
  /** Moves, makes or (null) deletes a branch or tag. @param ref full name */
  setRef(repository: Repository, ref: string, commit: string | null, user?: string): Promise<void>;
  tip(repository: Repository, branch: string): Promise<string>;
  protect(repository: Repository, branch: string, rules: Partial<Rules>): Promise<void>;
  unprotect(repository: Repository, branch: string): Promise<void>;
  addRuleset(
    repository: Repository,
    branch: string,
    rules: Partial<Rules> & { readonly name?: string },
  ): Promise<Ruleset>;
  /** @param name `owner/name`; another owner: transferred */
  rename(repository: Repository, name: string): Promise<void>;
  archive(repository: Repository, archived?: boolean): Promise<void>;
  setDefaultBranch(repository: Repository, branch: string): Promise<void>;
}

export function repositoryDeeds(hub: Hub): RepositoryDeeds {
  const { world, events, deliveries } = hub;
  const settled = () => deliveries.settled();
  const moveRef = async (repository: Repository, user: string, change: () => Promise<unknown>) => {
    const before = await refsOf(repository.dir);
    await change();
    await noticeRefs(world, events, repository, before, user);
    await settled();
  };
  const create = (name: string, fork: Repository | null): Repository => {
    const [owner = '', short = ''] = name.split('/');
    const id = 100 + world.nextId();
    const created: Repository = {
      id,
      owner,
      name: short,
      dir: path.join(world.root, `${id}.git`),
      defaultBranch: 'main',
      archived: false,
      isPrivate: false,
      fork,
      methods: { merge: true, squash: true, rebase: true },
      pulls: new Map(),
      checks: [],
      statuses: [],
      protection: new Map(),
      rulesets: [],
      roles: new Map([[owner, 'admin']]),
      nextNumber: 1,
    };
    world.repositories.set(name.toLowerCase(), created);
    return created;
  };
  return {
    async repository(name, { files = { 'README.md': `${name}\n` }, defaultBranch = 'main' } = {}) {
      const created = create(name, null);
      created.defaultBranch = defaultBranch;
      await createBareRepository(created.dir, defaultBranch);
      const first = await commitFiles(created.dir, {
        parent: undefined,
        files,
        message: 'First',
        author: created.owner,
      });
      await git(created.dir, 'update-ref', `refs/heads/${defaultBranch}`, first);
      return created;
    },
    async fork(of, owner) {
      const created = create(`${owner}/${of.name}`, of);
      created.defaultBranch = of.defaultBranch;
      await createBareRepository(created.dir, of.defaultBranch);
      await git(created.dir, 'fetch', '-q', of.dir, '+refs/heads/*:refs/heads/*');
      return created;
    },
    deleteRepository(repository) {
      world.repositories.delete(fullName(repository).toLowerCase());
      for (const other of world.repositories.values())
        for (const pull of other.pulls.values())
          if (pull.headRepository === repository) pull.headRepository = null;
    },
    setRole: (repository, login, role) => void repository.roles.set(login, role),
    async push(
      repository,
      branch,
      { files, message = `Change ${Object.keys(files).join(', ')}`, user = 'alice', from, force = false },
    ) {
      const ref = `refs/heads/${branch}`;
      const start = await git(repository.dir, 'rev-parse', `${from ?? repository.defaultBranch}^{commit}`);
      const parent = force ? start : ((await tipOf(repository.dir, branch)) ?? start);
      const commit = await commitFiles(repository.dir, { parent, files, message, author: user });
      await moveRef(repository, user, () => git(repository.dir, 'update-ref', ref, commit));
      return commit;
    },
    async setRef(repository, ref, commit, user = 'alice') {
      await moveRef(repository, user, async () => {
        if (commit === null) await git(repository.dir, 'update-ref', '-d', ref);
        else await git(repository.dir, 'update-ref', ref, commit);
        if (commit === null) await closeWithoutHead(hub, repository, ref, user);
      });
    },
    async tip(repository, branch) {
      const found = await tipOf(repository.dir, branch);
      if (found === undefined) throw new Error(`${fullName(repository)} has no branch ${branch}`);
      return found;
    },
    async protect(repository, branch, rules) {
      const known = repository.protection.has(branch);
      repository.protection.set(branch, { ...NO_RULES, ...rules });
      protectionEvent(hub, repository, branch, known ? 'edited' : 'created');
      await settled();
    },
    async unprotect(repository, branch) {
      repository.protection.delete(branch);
      protectionEvent(hub, repository, branch, 'deleted');
      await settled();
    },
    async addRuleset(repository, branch, { name = 'rules', ...rules }) {
      const ruleset: Ruleset = { ...NO_RULES, ...rules, id: world.nextId(), name, branch };
      repository.rulesets.push(ruleset);
      const about = {
        id: ruleset.id,
        name,
        target: 'branch',
        source_type: 'Repository',
        source: fullName(repository),
        enforcement: 'active',
      };
      events.send(repository, 'repository_ruleset', 'created', repository.owner, {
        repository_ruleset: about,
      });
      await settled();
      return ruleset;
    },
    async rename(repository, name) {
      const old = fullName(repository);
      const [owner = '', short = ''] = name.split('/');
      world.repositories.delete(old.toLowerCase());
      world.moved.set(old.toLowerCase(), repository.id);
      world.moved.delete(name.toLowerCase());
      const transferred = owner !== repository.owner;
      const changes = transferred
        ? { owner: { from: { user: { login: repository.owner } } } }
        : { repository: { name: { from: repository.name } } };
      Object.assign(repository, { owner, name: short });
      world.repositories.set(name.toLowerCase(), repository);
      if (!transferred) events.send(repository, 'repository', 'renamed', owner, { changes });
      await settled();
    },
    async archive(repository, archived = true) {
      repository.archived = archived;
      events.send(repository, 'repository', archived ? 'archived' : 'unarchived', repository.owner, {});
      await settled();
    },
    async setDefaultBranch(repository, branch) {
      const from = repository.defaultBranch;
      repository.defaultBranch = branch;
      await git(repository.dir, 'symbolic-ref', 'HEAD', `refs/heads/${branch}`);
      events.send(repository, 'repository', 'edited', repository.owner, {
        changes: { default_branch: { from } },
      });
      await settled();
    },
  };
}

/** GitHub closes pull requests whose branch is gone. */
async function closeWithoutHead(
  { world, events }: Hub,
  repository: Repository,
  ref: string,
  user: string,
): Promise<void> {
  for (const target of world.repositories.values())
    for (const pull of target.pulls.values()) {
      if (
        pull.headRepository !== repository ||
        `refs/heads/${pull.headRef}` !== ref ||
        pull.now.state !== 'open'
      )
        continue;
      changePull(world, pull, { state: 'closed', closedAt: timestamp(world) });
      await events.pull(target, pull, 'closed', user);
    }
}

function protectionEvent(
  { world, events }: Hub,
  repository: Repository,
  branch: string,
  action: string,
): void {
  const rules = repository.protection.get(branch) ?? NO_RULES;
  const at = timestamp(world);
  const level = (on: boolean) => (on ? 'non_admins' : 'off');
  events.send(repository, 'branch_protection_rule', action, repository.owner, {
    rule: {
      id: idOf(`${repository.id} ${branch}`),
      repository_id: repository.id,
      name: branch,
      created_at: at,
      updated_at: at,
      pull_request_reviews_enforcement_level: level(rules.approvals > 0),
      required_approving_review_count: rules.approvals,
      dismiss_stale_reviews_on_push: false,
      require_code_owner_review: rules.codeOwners,
      authorized_dismissal_actors_only: false,
      ignore_approvals_from_contributors: false,
      required_status_checks: rules.checks.map(each => (typeof each === 'string' ? each : each.context)),
      required_status_checks_enforcement_level: level(rules.checks.length > 0),
      strict_required_status_checks_policy: rules.upToDate,
      signature_requirement_enforcement_level: level(rules.signatures),
      linear_history_requirement_enforcement_level: level(rules.linearHistory),
      admin_enforced: true,
      create_protected: false,
      allow_force_pushes_enforcement_level: 'off',
      allow_deletions_enforcement_level: 'off',
      merge_queue_enforcement_level: level(rules.mergeQueue),
      required_deployments_enforcement_level: 'off',
      required_conversation_resolution_level: level(rules.conversations),
      authorized_actors_only: rules.pushers !== null,
      authorized_actor_names: rules.pushers ?? [],
    },
    ...(action === 'edited' ? { changes: {} } : {}),
  });
}
