/**
 * What Gerrit keeps of a few changes of one project, behind the driver's own port: for tests of what is asked and written, in which
 * order, and what happens when a write or its answer goes missing. Whether the shapes are Gerrit's is judged elsewhere, by the host
 * in `test/gerrit/fake`; answers and refusals here are worded as a real Gerrit 3.2 words them.
 */
import type {
  GerritAnswer,
  GerritApi,
  GerritCall,
  GerritRequest,
} from '../../../../drivers/gerrit/api/port.ts';
import { changeKey, type ProposedChange } from '../../../../src/model/change.ts';
import type { Json } from '../../../../src/model/job.ts';
import { parseCommitId, projectKey } from '../../../../src/model/project.ts';

export const gerritApp = projectKey({ connection: 'gerrit', name: 'acme/app' });

/** Patch set 1 of a change of acme/app, as the driver reads it. */
export function gerritChange(number = 12, commit = 'a'.repeat(40)): ProposedChange {
  return {
    kind: 'change',
    key: changeKey(gerritApp, String(number)),
    project: gerritApp,
    branch: 'main',
    id: String(number),
    patchset: '1',
    commit: parseCommitId(commit),
    ref: `refs/changes/${String(number % 100).padStart(2, '0')}/${number}/1`,
    subject: 'Log in',
    url: `https://gerrit.example.org/c/acme/app/+/${number}`,
  };
}

/** What happens to a write: the process dies before or after it, or its answer is lost after or before it was done. */
export type ReviewMishap = 'dies-before' | 'dies-after' | 'lost-done' | 'lost-undone';

/** The process of the test died here. */
export class ProcessDied extends Error {}

interface WorldMessage {
  readonly author: { readonly _account_id: number };
  readonly message: string;
  readonly tag?: string;
  readonly _revision_number: number;
}

interface WorldChange {
  readonly _number: number;
  project: string;
  branch: string;
  status: 'NEW' | 'MERGED' | 'ABANDONED';
  subject: string;
  current_revision: string;
  work_in_progress?: boolean;
  readonly messages: WorldMessage[];
  /** Of our account. */
  readonly votes: Map<string, number>;
  readonly comments: { path: string; line: number; message: string }[];
}

/** A request as it came, for tests that count. */
interface AskedRequest {
  readonly operation: string;
  readonly path: string;
  readonly body: Json | undefined;
  readonly isWrite: boolean;
}

interface MadeCommit {
  readonly commit: string;
  readonly tree: string;
}

export interface ReviewWorld {
  readonly api: GerritApi;
  readonly requests: AskedRequest[];
  readonly changes: Map<number, WorldChange>;
  /** Labels of the project, and what our account may give. */
  readonly labels: Map<string, { min: number; max: number }>;
  files: string[];
  /** Null: there is no such branch. */
  branch: MadeCommit | null;
  /** Called for `submit`: the commit Gerrit makes, or its refusal. */
  submit: (change: WorldChange) => MadeCommit | { status: number; text: string };
  /** Numbers of the changes that are submitted together; an empty list where Gerrit submits one alone. */
  together: readonly number[];
  hidden: number;
  /** Answered instead of the real thing, as often as it returns something. */
  answer: (request: AskedRequest) => GerritAnswer<Json> | undefined;
  /** @param index of the write, from 0. */
  mishap: (index: number) => ReviewMishap | undefined;
  writes(): readonly string[];
  changeOf(number?: number): WorldChange;
}

const LATER = { reason: 'unreachable', text: 'the connection was reset' } as const;
export const OUR_ACCOUNT = 1_000_004;

class Refusal extends Error {
  readonly status: number;
  constructor(status: number, text: string) {
    super(text);
    this.status = status;
  }
}

/** @param numbers of the open changes of acme/app. */
export function createReviewWorld(numbers: readonly number[] = [12]): ReviewWorld {
  let writes = 0;
  const world: ReviewWorld = {
    api: { ask },
    requests: [],
    changes: new Map(numbers.map(number => [number, openChange(number)])),
    labels: new Map([
      ['Verified', { min: -2, max: 2 }],
      ['Code-Review', { min: -1, max: 1 }],
    ]),
    files: ['src/a.ts'],
    branch: { commit: 'b'.repeat(40), tree: 'c'.repeat(40) },
    submit: () => ({ status: 409, text: 'not scripted' }),
    together: [],
    hidden: 0,
    answer: () => undefined,
    mishap: () => undefined,
    writes: () => world.requests.filter(({ isWrite }) => isWrite).map(({ operation }) => operation),
    changeOf(number = 12) {
      const found = world.changes.get(number);
      if (found === undefined) throw new Error(`the world has no change ${number}`);
      return found;
    },
  };

  async function ask(request: GerritRequest, call: GerritCall): Promise<GerritAnswer<Json>> {
    call.signal.throwIfAborted();
    const isWrite = request.method !== 'GET';
    const asked = { operation: request.operation, path: request.path, body: request.body, isWrite };
    world.requests.push(asked);
    const scripted = world.answer(asked);
    if (scripted !== undefined) return scripted;
    if (isWrite && call.mayAct?.() === false) throw new Error('NotHolder');
    const mishap = isWrite ? world.mishap(writes++) : undefined;
    if (mishap === 'dies-before') throw new ProcessDied(request.operation);
    if (mishap === 'lost-undone') return { kind: 'lost', later: LATER };
    const answer = perform(request);
    if (mishap === 'dies-after') throw new ProcessDied(request.operation);
    return mishap === 'lost-done' ? { kind: 'lost', later: LATER } : answer;
  }

  function perform(request: GerritRequest): GerritAnswer<Json> {
    try {
      return { kind: 'ok', status: 200, data: JSON.parse(JSON.stringify(answerOf(world, request))) };
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      return { kind: 'refused', status: error.status, text: error.message };
    }
  }
  return world;
}

function openChange(number: number): WorldChange {
  return {
    _number: number,
    project: 'acme/app',
    branch: 'main',
    status: 'NEW',
    subject: 'Log in',
    current_revision: 'a'.repeat(40),
    messages: [],
    votes: new Map(),
    comments: [],
  };
}

function answerOf(world: ReviewWorld, { path, body }: GerritRequest): unknown {
  if (path === 'accounts/self') return { _account_id: OUR_ACCOUNT };
  if (path === 'projects/acme%2Fapp/branches/main') {
    if (world.branch === null) throw new Refusal(404, 'Not found: main');
    return { ref: 'refs/heads/main', revision: world.branch.commit, can_delete: true };
  }
  const [, number, rest = ''] = /^changes\/(\d+)\/([^?]*)/.exec(path) ?? [];
  const change = world.changes.get(Number(number));
  if (change === undefined) throw new Refusal(404, `Not found: ${number}`);
  if (rest === 'messages') return change.messages;
  if (rest === 'detail') return detailOf(change);
  if (rest === 'submitted_together')
    return {
      changes: world.together.map(each => detailOf(world.changeOf(each))),
      non_visible_changes: world.hidden,
    };
  if (rest.endsWith('/files'))
    return Object.fromEntries(world.files.map(file => [file, { lines_inserted: 1 }]));
  if (rest.endsWith('/review')) return review(world, change, body as unknown as ReviewBody);
  if (rest.endsWith('/submit')) return submit(world, change, rest);
  throw new Error(`the world knows no ${path}`);
}

function detailOf({ votes, messages: _, comments: __, ...change }: WorldChange): unknown {
  const labels = [...votes].map(([label, value]) => [label, { all: [{ _account_id: OUR_ACCOUNT, value }] }]);
  return { ...change, labels: Object.fromEntries(labels) };
}

interface ReviewBody {
  readonly message?: string;
  readonly tag?: string;
  readonly labels?: { readonly [label: string]: number };
  readonly comments?: { readonly [path: string]: readonly { line: number; message: string }[] };
}

function review(world: ReviewWorld, change: WorldChange, body: ReviewBody): unknown {
  const { message, tag, labels, comments = {} } = body;
  if (change.status === 'ABANDONED') throw new Refusal(409, 'change is closed');
  if ((message?.length ?? 0) > 16_384)
    throw new Refusal(400, `Comment size exceeds limit (${message?.length} > 16384)`);
  for (const path of Object.keys(comments))
    if (!world.files.includes(path))
      throw new Refusal(400, `file ${path} not found in revision ${change._number},1`);
  const known = Object.entries(labels ?? {}).filter(([label]) => world.labels.has(label));
  for (const [label, value] of known) {
    const range = world.labels.get(label);
    if (range !== undefined && (value < range.min || value > range.max))
      throw new Refusal(403, `Applying label "${label}": ${value} is restricted`);
  }
  const header = `Patch Set 1:${known.map(([label, value]) => ` ${label}${value > 0 ? '+' : ''}${value}`).join('')}`;
  const isSame = known.every(([label, value]) => change.votes.get(label) === value);
  if (message !== undefined || !isSame)
    change.messages.push({
      author: { _account_id: OUR_ACCOUNT },
      message: message === undefined ? header : `${header}\n\n${message}`,
      ...(tag === undefined ? {} : { tag }),
      _revision_number: 1,
    });
  for (const [label, value] of known) change.votes.set(label, value);
  for (const [path, own] of Object.entries(comments))
    for (const { line, message: text } of own) change.comments.push({ path, line, message: text });
  return labels === undefined ? {} : { labels: Object.fromEntries(known) };
}

function submit(world: ReviewWorld, change: WorldChange, path: string): unknown {
  if (change.status !== 'NEW') throw new Refusal(409, `change is ${change.status.toLowerCase()}`);
  if (!path.includes(change.current_revision))
    throw new Refusal(409, `revision ${path.split('/')[1]} is not current revision`);
  const made = world.submit(change);
  if ('status' in made) throw new Refusal(made.status, made.text);
  world.branch = made;
  change.status = 'MERGED';
  // As a real one answers after it has merged.
  return { _number: change._number, status: 'NEW', submitted: '2026-11-22 13:54:05.000000000' };
}
