/**
 * What GitHub keeps of one repository, behind the driver's own port: for tests of what the driver asks and writes, in which order,
 * and what it does when a write or its answer goes missing. Shapes are judged elsewhere, by the host in `test/github/fake`.
 */
import type {
  GithubAnswer,
  GithubApi,
  GithubCall,
  GithubIdentity,
} from '../../../../drivers/github/api/port.ts';
import type { LandingStateAnswer } from '../../../../drivers/github/landing/landing-query.ts';

type Parameters_ = { readonly [name: string]: unknown };

interface WorldRun {
  id: number;
  name: string;
  head_sha: string;
  external_id: string;
  status: string;
  conclusion: string | null;
  actions: unknown[];
  started_at?: string;
  completed_at?: string;
  details_url: string;
  output: { title: string; summary: string; annotations_count: number };
}

interface WorldComment {
  id: number;
  node_id?: string;
  body: string;
  user: { login: string };
}

/** A request as it came, for tests that count. */
interface WorldRequest {
  readonly operation: string;
  readonly parameters: Parameters_;
  readonly isWrite: boolean;
  readonly weight: GithubCall['weight'];
}

/** What happens to a write: the process dies before or after it, or its answer is lost after or before it was done. */
export type Mishap = 'dies-before' | 'dies-after' | 'lost-done' | 'lost-undone';

/** The process of the test died here. */
export class Died extends Error {}

export interface PortWorld {
  readonly api: GithubApi;
  readonly requests: WorldRequest[];
  readonly runs: WorldRun[];
  readonly annotations: Map<number, unknown[]>;
  readonly statuses: Parameters_[];
  readonly comments: WorldComment[];
  readonly labels: Set<string>;
  readonly reviews: { user: { login: string }; body: string; state: string }[];
  files: string[];
  pull: {
    state: 'open' | 'closed';
    merged: boolean;
    merge_commit_sha: string | null;
    head: { sha: string };
    base: { ref: string };
    mergeable: boolean | null;
  };
  /** What reads show instead: GitHub is behind with the pull request. */
  stalePull?: PortWorld['pull'];
  branch: { sha: string; tree: string };
  readonly trees: Map<string, string>;
  identity: GithubIdentity;
  /** Called for `PUT …/merge`: the commit GitHub makes, or its refusal. */
  merge: (parameters: Parameters_) => { sha: string; tree: string } | { status: number; text: string };
  /** By operation: answered instead of the real thing, as often as it returns something. */
  answer: (request: WorldRequest) => GithubAnswer<never> | undefined;
  /** @param index of the write, from 0. */
  mishap: (index: number) => Mishap | undefined;
  writes(): readonly string[];
}

const LATER = { reason: 'unreachable', text: 'the connection was reset' } as const;
const APP: GithubIdentity = {
  login: 'gatehouse[bot]',
  app: { id: 7, slug: 'gatehouse' },
  permissions: { checks: 'write', statuses: 'write' },
};

class Refusal extends Error {
  readonly status: number;
  constructor(status: number, text: string) {
    super(text);
    this.status = status;
  }
}

/** One open pull request, number 1. @param head of the pull request. */
export function createPortWorld(head = 'a'.repeat(40)): PortWorld {
  let ids = 100;
  let writes = 0;
  const world: PortWorld = {
    api: {
      rest,
      graphql: (operation, _, variables, call) => rest(operation, 'GET ', variables, call),
      identity: async () => ok(world.identity),
    },
    requests: [],
    runs: [],
    annotations: new Map(),
    statuses: [],
    comments: [],
    labels: new Set(),
    reviews: [],
    files: [],
    pull: {
      state: 'open',
      merged: false,
      merge_commit_sha: null,
      head: { sha: head },
      base: { ref: 'main' },
      mergeable: true,
    },
    branch: { sha: 'b'.repeat(40), tree: 'c'.repeat(40) },
    trees: new Map(),
    identity: APP,
    merge: () => ({ status: 405, text: 'not scripted' }),
    answer: () => undefined,
    mishap: () => undefined,
    writes: () => world.requests.filter(({ isWrite }) => isWrite).map(({ operation }) => operation),
  };

  async function rest<R>(
    operation: string,
    route: string,
    parameters: Parameters_,
    call: GithubCall,
  ): Promise<GithubAnswer<R>> {
    const isWrite = !route.startsWith('GET ');
    const request = { operation, parameters, isWrite, weight: call.weight };
    world.requests.push(request);
    const scripted = world.answer(request);
    if (scripted !== undefined) return scripted;
    if (isWrite && call.mayAct?.() === false) throw new Error('NotHolder');
    const mishap = isWrite ? world.mishap(writes++) : undefined;
    if (mishap === 'dies-before') throw new Died(operation);
    if (mishap === 'lost-undone') return { kind: 'lost', later: LATER };
    const answer = perform<R>(operation, parameters);
    if (mishap === 'dies-after') throw new Died(operation);
    return mishap === 'lost-done' ? { kind: 'lost', later: LATER } : answer;
  }

  function perform<R>(operation: string, parameters: Parameters_): GithubAnswer<R> {
    const act = operations(world, () => ids++)[operation];
    if (act === undefined) throw new Error(`the world knows no ${operation}`);
    try {
      return ok(structuredClone(act(parameters)) as R);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      return { kind: 'refused', status: error.status, text: error.message, errors: [] };
    }
  }
  return world;
}

function ok<T>(data: T): GithubAnswer<T> {
  return { kind: 'ok', status: 200, data };
}

function pageOf<T>(all: readonly T[], { page = 1, per_page = 30 }: Parameters_): readonly T[] {
  return all.slice((Number(page) - 1) * Number(per_page), Number(page) * Number(per_page));
}

type Operations = { readonly [operation: string]: (parameters: Parameters_) => unknown };

function operations(world: PortWorld, nextId: () => number): Operations {
  return { ...checks(world, nextId), ...talk(world, nextId), ...landing(world) };
}

function checks(world: PortWorld, nextId: () => number): Operations {
  const put = (run: WorldRun, { output, check_run_id: _, ...parameters }: Parameters_) => {
    const { annotations = [], ...texts } = output as {
      annotations?: unknown[];
      title: string;
      summary: string;
    };
    if (annotations.length > 50) throw new Refusal(422, 'more than 50 annotations');
    if (texts.summary.length > 65_535) throw new Refusal(422, 'summary is too long');
    const held = [...(world.annotations.get(run.id) ?? []), ...annotations];
    world.annotations.set(run.id, held);
    const reopened = parameters.status === 'in_progress' ? { conclusion: null } : {};
    Object.assign(run, reopened, parameters, { output: { ...texts, annotations_count: held.length } });
    return run;
  };
  return {
    'checks/list-for-ref': parameters => ({
      check_runs: pageOf(
        world.runs.filter(
          ({ head_sha, name }) => head_sha === parameters.ref && name === parameters.check_name,
        ),
        parameters,
      ),
    }),
    'checks/create': parameters => {
      const run = { id: nextId(), conclusion: null } as WorldRun;
      put(run, parameters);
      world.runs.unshift(run);
      return run;
    },
    'checks/update': parameters => {
      const run = world.runs.find(({ id }) => id === parameters.check_run_id);
      if (run === undefined) throw new Refusal(404, 'Not Found');
      return put(run, parameters);
    },
    'repos/get-combined-status-for-ref': parameters => ({
      statuses: pageOf(
        [
          ...new Map(
            world.statuses
              .filter(({ sha }) => sha === parameters.ref)
              .map(status => [status.context, status]),
          ).values(),
        ],
        parameters,
      ),
    }),
    'repos/create-commit-status': parameters => {
      world.statuses.push(parameters);
      return parameters;
    },
  };
}

function talk(world: PortWorld, nextId: () => number): Operations {
  const login = () => world.identity.login;
  return {
    'issues/list-comments': parameters => pageOf(world.comments, parameters),
    'issues/create-comment': ({ body }) => {
      const id = nextId();
      const comment = { id, node_id: `IC_${id}`, body: String(body), user: { login: login() } };
      world.comments.push(comment);
      return comment;
    },
    'issues/update-comment': ({ comment_id, body }) => {
      const comment = world.comments.find(({ id }) => id === comment_id);
      if (comment === undefined) throw new Refusal(404, 'Not Found');
      comment.body = String(body);
      return comment;
    },
    'issues/list-labels-on-issue': () => [...world.labels].map(name => ({ name })),
    'issues/add-labels': ({ labels }) => {
      for (const name of labels as string[]) world.labels.add(name);
    },
    'issues/remove-label': ({ name }) => {
      if (!world.labels.delete(String(name))) throw new Refusal(404, 'Label does not exist');
    },
    'pulls/list-reviews': parameters => pageOf(world.reviews, parameters),
    'pulls/create-review': ({ body, event }) => {
      world.reviews.push({ user: { login: login() }, body: String(body), state: String(event) });
    },
    'pulls/list-files': parameters =>
      pageOf(
        world.files.map(filename => ({ filename })),
        parameters,
      ),
  };
}

function landing(world: PortWorld): Operations {
  return {
    'landing-state': () => landingState(world),
    'pulls/update': ({ state }) => {
      world.pull.state = state as 'open' | 'closed';
    },
    'git/get-commit': ({ commit_sha }) => ({ tree: { sha: world.trees.get(String(commit_sha)) } }),
    'pulls/merge': parameters => {
      if (world.pull.merged) throw new Refusal(405, 'Pull Request is not mergeable');
      const made = world.merge(parameters);
      if ('status' in made) throw new Refusal(made.status, made.text);
      world.branch = made;
      world.trees.set(made.sha, made.tree);
      Object.assign(world.pull, { state: 'closed', merged: true, merge_commit_sha: made.sha });
      return { sha: made.sha, merged: true };
    },
  };
}

function landingState({ stalePull, pull: now, branch, trees }: PortWorld): LandingStateAnswer {
  const pull = stalePull ?? now;
  const { merge_commit_sha: commit } = pull;
  const tree = { oid: trees.get(commit ?? '') ?? '' };
  return {
    repository: {
      branch: { target: { oid: branch.sha, tree: { oid: branch.tree } } },
      staging: null,
      pullRequest: {
        state: pull.merged ? 'MERGED' : pull.state === 'open' ? 'OPEN' : 'CLOSED',
        merged: pull.merged,
        mergeable: pull.mergeable === null ? 'UNKNOWN' : pull.mergeable ? 'MERGEABLE' : 'CONFLICTING',
        headRefOid: pull.head.sha,
        baseRefName: pull.base.ref,
        mergeCommit: commit === null ? null : { oid: commit, tree },
      },
    },
  };
}
