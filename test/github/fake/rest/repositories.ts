/** Repositories, branches, their protection and rulesets, people's permissions. */
import { git, refsOf } from '../bare-git.ts';
import { requiredOf } from '../contexts.ts';
import { notFound, RequestRefused } from '../refused.ts';
import { type Shape, shapeAt } from '../shape.ts';
import { accountShape, exampleOf, fullRepositoryShape } from '../shapes.ts';
import {
  fullName,
  idOf,
  mayWrite,
  type Repository,
  type Rules,
  type Ruleset,
  roleOf,
  type World,
} from '../world.ts';
import { type Handlers, paged, repositoryOf } from './call.ts';

export const repositoryHandlers: Handlers = {
  'repos/get': call => ({ status: 200, body: fullRepositoryShape(call.world, repositoryOf(call)) }),
  'repos/list-branches': async call => {
    const repository = repositoryOf(call);
    const refs = [...(await refsOf(repository.dir))].filter(([ref]) => ref.startsWith('refs/heads/'));
    const all = refs.map(([ref, sha]) => ({
      name: ref.slice(11),
      sha,
      guarded: isProtected(repository, ref.slice(11)),
    }));
    const wanted = all.filter(
      each => call.query.protected === undefined || String(each.guarded) === call.query.protected,
    );
    return paged(call, wanted, ({ name, sha, guarded }) => ({
      name,
      commit: { sha, url: `${call.world.api}/repos/${fullName(repository)}/commits/${sha}` },
      protected: guarded,
      protection: {
        enabled: guarded,
        required_status_checks: { enforcement_level: 'off', contexts: [], checks: [] },
      },
      protection_url: `${call.world.api}/repos/${fullName(repository)}/branches/${encodeURIComponent(name)}/protection`,
    }));
  },
  'repos/get-branch': async call => {
    const repository = repositoryOf(call);
    const name = call.path.branch ?? '';
    const sha = (await refsOf(repository.dir)).get(`refs/heads/${name}`);
    if (sha === undefined) throw new RequestRefused(404, 'Branch not found');
    const example = shapeAt(exampleOf(call.world, 'repos/get-branch', 200, repository));
    const commit = shapeAt(example, 'commit');
    const about = shapeAt(commit, 'commit');
    const tree = await git(repository.dir, 'rev-parse', `${sha}^{tree}`);
    return {
      status: 200,
      body: {
        ...example,
        name,
        commit: { ...commit, sha, commit: { ...about, tree: { ...shapeAt(about, 'tree'), sha: tree } } },
        protected: isProtected(repository, name),
      },
    };
  },
  'repos/get-branch-protection': call => {
    const repository = repositoryOf(call);
    const branch = call.path.branch ?? '';
    const rules = repository.protection.get(branch);
    if (rules === undefined) throw new RequestRefused(404, 'Branch not protected');
    return { status: 200, body: protectionShape(call.world, repository, branch, rules) };
  },
  'repos/get-branch-rules': call => {
    const repository = repositoryOf(call);
    const rules = repository.rulesets.filter(each => each.branch === call.path.branch);
    return paged(
      call,
      rules.flatMap(each => ruleShapes(repository, each)),
      each => each,
    );
  },
  'repos/get-repo-ruleset': call => {
    const repository = repositoryOf(call);
    const found = repository.rulesets.find(each => each.id === Number(call.path.ruleset_id));
    if (found === undefined) throw notFound();
    const example = shapeAt(exampleOf(call.world, 'repos/get-repo-ruleset', 200, repository));
    const rules = ruleShapes(repository, found).map(({ type, parameters }) =>
      parameters === undefined ? { type } : { type, parameters },
    );
    const conditions = { ref_name: { include: [`refs/heads/${found.branch}`], exclude: [] } };
    return {
      status: 200,
      body: {
        ...example,
        id: found.id,
        name: found.name,
        target: 'branch',
        source_type: 'Repository',
        source: fullName(repository),
        enforcement: 'active',
        conditions,
        rules,
      },
    };
  },
  'repos/get-collaborator-permission-level': ({ world, path, ...call }) => {
    const repository = repositoryOf({ world, path });
    void call;
    const login = path.username ?? '';
    if (world.deletedUsers.has(login)) throw notFound();
    const role = roleOf(repository, login);
    const legacy = {
      admin: 'admin',
      maintain: 'write',
      write: 'write',
      triage: 'read',
      read: 'read',
      none: 'none',
    }[role];
    const permissions = {
      pull: role !== 'none',
      triage: role !== 'none' && role !== 'read',
      push: mayWrite(repository, login),
      maintain: role === 'admin' || role === 'maintain',
      admin: role === 'admin',
    };
    return {
      status: 200,
      body: {
        permission: legacy,
        role_name: role,
        user: { ...accountShape(world, login), permissions, role_name: role },
      },
    };
  },
};

export function isProtected(repository: Repository, branch: string): boolean {
  return repository.protection.has(branch) || repository.rulesets.some(each => each.branch === branch);
}

function protectionShape(world: World, repository: Repository, branch: string, rules: Rules): Shape {
  const url = `${world.api}/repos/${fullName(repository)}/branches/${branch}/protection`;
  const checks = requiredOf(rules);
  const on = (enabled: boolean) => ({ enabled });
  return {
    url,
    ...(checks.length === 0
      ? {}
      : {
          required_status_checks: {
            url: `${url}/required_status_checks`,
            strict: rules.upToDate,
            contexts: checks.map(({ name }) => name),
            contexts_url: `${url}/required_status_checks/contexts`,
            checks: checks.map(({ name, app }) => ({ context: name, app_id: app ?? null })),
          },
        }),
    ...(rules.approvals === 0 && !rules.codeOwners
      ? {}
      : {
          required_pull_request_reviews: {
            url: `${url}/required_pull_request_reviews`,
            dismiss_stale_reviews: false,
            require_code_owner_reviews: rules.codeOwners,
            required_approving_review_count: rules.approvals,
            require_last_push_approval: false,
          },
        }),
    ...(rules.pushers === null ? {} : { restrictions: restrictions(world, url, rules.pushers) }),
    required_signatures: { url: `${url}/required_signatures`, ...on(rules.signatures) },
    enforce_admins: { url: `${url}/enforce_admins`, ...on(true) },
    required_linear_history: on(rules.linearHistory),
    allow_force_pushes: on(false),
    allow_deletions: on(false),
    block_creations: on(false),
    required_conversation_resolution: on(rules.conversations),
    lock_branch: on(rules.locked),
    allow_fork_syncing: on(false),
  };
}

function restrictions(world: World, url: string, pushers: readonly string[]): Shape {
  const base = `${url}/restrictions`;
  const example = shapeAt(exampleOf(world, 'repos/get-branch-protection', 200), 'restrictions');
  const like = Array.isArray(example.apps) ? example.apps[0] : {};
  const bots = pushers.filter(each => each.endsWith('[bot]'));
  return {
    url: base,
    users_url: `${base}/users`,
    teams_url: `${base}/teams`,
    apps_url: `${base}/apps`,
    users: pushers.filter(each => !each.endsWith('[bot]')).map(each => accountShape(world, each)),
    teams: [],
    apps: bots.map(each => ({
      ...like,
      slug: each.replace('[bot]', ''),
      id: each === `${world.app.slug}[bot]` ? world.app.id : idOf(each),
    })),
  };
}

/** Rules of one ruleset, as they apply to its branch. */
function ruleShapes(repository: Repository, ruleset: Ruleset): readonly Shape[] {
  const from = {
    ruleset_source_type: 'Repository',
    ruleset_source: fullName(repository),
    ruleset_id: ruleset.id,
  };
  const pull = {
    required_approving_review_count: ruleset.approvals,
    dismiss_stale_reviews_on_push: false,
    require_code_owner_review: ruleset.codeOwners,
    require_last_push_approval: false,
    required_review_thread_resolution: ruleset.conversations,
    ...(ruleset.methods === null ? {} : { allowed_merge_methods: ruleset.methods }),
  };
  const checks = requiredOf(ruleset).map(({ name, app }) => ({
    context: name,
    ...(app === undefined ? {} : { integration_id: app }),
  }));
  const rules: (Shape | false)[] = [
    checks.length > 0 && {
      type: 'required_status_checks',
      parameters: { required_status_checks: checks, strict_required_status_checks_policy: ruleset.upToDate },
    },
    (ruleset.approvals > 0 || ruleset.codeOwners || ruleset.conversations || ruleset.methods !== null) && {
      type: 'pull_request',
      parameters: pull,
    },
    ruleset.linearHistory && { type: 'required_linear_history' },
    ruleset.signatures && { type: 'required_signatures' },
    (ruleset.locked || ruleset.pushers !== null) && {
      type: 'update',
      parameters: { update_allows_fetch_and_merge: false },
    },
    ruleset.mergeQueue && { type: 'merge_queue', parameters: MERGE_QUEUE },
  ];
  return rules.filter(each => each !== false).map(each => ({ ...each, ...from }));
}

const MERGE_QUEUE = {
  check_response_timeout_minutes: 60,
  grouping_strategy: 'ALLGREEN',
  max_entries_to_build: 5,
  max_entries_to_merge: 5,
  merge_method: 'MERGE',
  min_entries_to_merge: 1,
  min_entries_to_merge_wait_minutes: 5,
};
