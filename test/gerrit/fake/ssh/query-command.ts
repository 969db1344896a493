/** `gerrit query --format=JSON`: a change in a line, fields as a real Gerrit 3.2 shows them with the same options, and a last line about all. */
import type { Shape } from '../../../github/fake/shape.ts';
import { seesChange } from '../authority.ts';
import { fileStats } from '../commits.ts';
import { changeOfCommit } from '../doing/upload.ts';
import { changeUrl, eventAccount, eventPatchSet } from '../events.ts';
import { compileQuery } from '../expression.ts';
import { RestRefused } from '../rest-refused.ts';
import { isSubmittable, labelVerdicts } from '../submittable.ts';
import {
  type ChangeState,
  currentPatchSet,
  type FakeAccount,
  type FakeChange,
  type GerritWorld,
  type PatchSet,
  stateInIndex,
  subjectOf,
  votesOn,
} from '../world.ts';
import type { SshAnswer } from './fake-ssh.ts';

const QUERY_LIMIT = 500;

interface Asked {
  readonly world: GerritWorld;
  readonly viewer: FakeAccount;
  readonly options: ReadonlySet<string>;
}

/** @param args behind `gerrit query`. */
export async function queryCommand(
  world: GerritWorld,
  viewer: FakeAccount,
  args: readonly string[],
): Promise<SshAnswer> {
  const options = new Set<string>();
  const words: string[] = [];
  let start = 0;
  for (let at = 0; at < args.length; at++) {
    const word = args[at] ?? '';
    if (word === '--start' || word === '-S') start = Number(args[++at]);
    else if (word.startsWith('--')) options.add(word.slice(2));
    else words.push(word);
  }
  if (!options.has('format=JSON')) return { err: 'fatal: the fake has the format JSON alone\n', code: 1 };
  try {
    return await answered({ world, viewer, options }, words.join(' '), start);
  } catch (error) {
    if (!(error instanceof RestRefused)) throw error;
    return { out: `${JSON.stringify({ type: 'error', message: error.message })}\n`, code: 0 };
  }
}

async function answered(asked: Asked, text: string, start: number): Promise<SshAnswer> {
  const { world, viewer } = asked;
  const { matches, limit } = compileQuery(text);
  const found = [...world.changes.values()].flatMap(change => {
    const state = stateInIndex(world, change);
    if (state === undefined || !seesChange(viewer, change)) return [];
    return matches({ world, change, state, viewer }) ? [{ change, state }] : [];
  });
  const { frozen } = world.index;
  if (frozen !== null && --frozen.reads <= 0) world.index.frozen = null;
  found.sort(
    (a, b) => seconds(b.state.updatedAt) - seconds(a.state.updatedAt) || b.change.number - a.change.number,
  );
  const page = found.slice(start, start + Math.min(limit ?? QUERY_LIMIT, QUERY_LIMIT));
  const rows = await Promise.all(page.map(({ change, state }) => rowOf(asked, change, state)));
  const moreChanges = start + page.length < found.length;
  const stats = { type: 'stats', rowCount: rows.length, runTimeMilliseconds: 1, moreChanges };
  return { out: [...rows, stats].map(each => `${JSON.stringify(each)}\n`).join(''), code: 0 };
}

function seconds(ms: number): number {
  return Math.trunc(ms / 1000);
}

async function rowOf(asked: Asked, change: FakeChange, state: ChangeState): Promise<Shape> {
  const { world, options } = asked;
  const { project, changeId, number, owner, createdAt } = change;
  const current = currentPatchSet(state);
  const reviewers = [...state.reviewers.values()].map(({ account }) => eventAccount(account));
  return {
    project: project.name,
    branch: state.branch,
    ...(state.topic === null ? {} : { topic: state.topic }),
    id: changeId,
    number,
    subject: subjectOf(state),
    owner: eventAccount(owner),
    url: changeUrl(world, change),
    ...(options.has('commit-message') ? { commitMessage: current.message } : {}),
    ...(state.hashtags.length === 0 ? {} : { hashtags: state.hashtags }),
    createdOn: seconds(createdAt),
    lastUpdated: seconds(state.updatedAt),
    open: state.status === 'NEW',
    status: state.status,
    ...(state.wip ? { wip: true } : {}),
    ...(state.private ? { private: true } : {}),
    ...(options.has('comments') ? { comments: history(world, state) } : {}),
    ...(options.has('current-patch-set')
      ? {
          currentPatchSet: await patchSetRow(change, state, current, {
            approvals: true,
            files: options.has('files'),
          }),
        }
      : {}),
    ...(options.has('patch-sets') || options.has('all-approvals')
      ? {
          patchSets: await Promise.all(
            state.patchSets.map(each => listedPatchSet(asked, change, state, each)),
          ),
        }
      : {}),
    ...(options.has('dependencies') ? dependencies(world, change, state) : {}),
    ...(options.has('submit-records') ? { submitRecords: [record(world, change, state)] } : {}),
    ...(options.has('all-reviewers') ? { allReviewers: reviewers } : {}),
  };
}

function history({ origin }: GerritWorld, { messages }: ChangeState): readonly Shape[] {
  const gerrit = { name: 'Gerrit Code Review', email: `gerrit@${new URL(origin).hostname}` };
  return messages.map(({ at, author, text }) => ({
    timestamp: seconds(at),
    reviewer: author === null ? gerrit : eventAccount(author),
    message: text,
  }));
}

function listedPatchSet({ options }: Asked, change: FakeChange, state: ChangeState, patchSet: PatchSet) {
  const inline = state.comments.filter(each => each.patchSet === patchSet.number);
  return patchSetRow(change, state, patchSet, {
    approvals: options.has('all-approvals'),
    files: options.has('files'),
    comments: options.has('comments') ? inline : [],
  });
}

interface Shown {
  readonly approvals: boolean;
  readonly files: boolean;
  readonly comments?: ChangeState['comments'];
}

async function patchSetRow(
  { project }: FakeChange,
  state: ChangeState,
  patchSet: PatchSet,
  { approvals, files, comments = [] }: Shown,
): Promise<Shape> {
  const { sizeInsertions, sizeDeletions, ...about } = eventPatchSet(patchSet);
  const votes = approvals ? approvalsOf(state, patchSet) : [];
  return {
    ...about,
    ...(votes.length === 0 ? {} : { approvals: votes }),
    ...(comments.length === 0
      ? {}
      : {
          comments: comments.map(each => ({
            file: each.path,
            line: each.line ?? 0,
            reviewer: eventAccount(each.by),
            message: each.text,
          })),
        }),
    ...(files ? { files: await filesOf(project.dir, patchSet) } : {}),
    sizeInsertions,
    sizeDeletions,
  };
}

/** With `SUBM` for who submitted it. */
function approvalsOf(state: ChangeState, patchSet: PatchSet): readonly Shape[] {
  const votes = votesOn(state, patchSet.number).map(({ label, value, at, by }) => ({
    type: label,
    description: label,
    value: String(value),
    grantedOn: seconds(at),
    by: eventAccount(by),
  }));
  const isLast = patchSet.number === currentPatchSet(state).number;
  if (!isLast || state.submitter === null || state.submittedAt === null) return votes;
  const submit = { type: 'SUBM', value: '1', grantedOn: seconds(state.submittedAt) };
  return [...votes, { ...submit, by: eventAccount(state.submitter) }];
}

const FILE_TYPES = { A: 'ADDED', D: 'DELETED', M: 'MODIFIED' } as const;

async function filesOf(dir: string, { commit }: PatchSet): Promise<readonly Shape[]> {
  const files = (await fileStats(dir, commit)).map(({ path, status, inserted, deleted }) => ({
    file: path,
    type: FILE_TYPES[status],
    insertions: inserted,
    deletions: deleted === 0 ? 0 : -deleted,
  }));
  return [{ file: '/COMMIT_MSG', type: 'ADDED', insertions: 9, deletions: 0 }, ...files];
}

/** Absent where there are none. */
function dependencies(world: GerritWorld, change: FakeChange, state: ChangeState): Shape {
  const dependsOn = currentPatchSet(state).parents.flatMap(commit => {
    const parent = changeOfCommit(world, change.project, commit);
    const patchSet = parent?.now.patchSets.find(each => each.commit === commit);
    return parent === undefined || patchSet === undefined ? [] : [dependency(parent, patchSet)];
  });
  const commits = new Set(state.patchSets.map(({ commit }) => commit));
  const neededBy = [...world.changes.values()].flatMap(each => {
    const patchSet = currentPatchSet(each.now);
    const isOn = each.project === change.project && patchSet.parents.some(commit => commits.has(commit));
    return isOn ? [dependency(each, patchSet)] : [];
  });
  return {
    ...(dependsOn.length === 0 ? {} : { dependsOn }),
    ...(neededBy.length === 0 ? {} : { neededBy }),
  };
}

function dependency({ changeId, number, now }: FakeChange, { commit, ref }: PatchSet): Shape {
  const isCurrentPatchSet = currentPatchSet(now).commit === commit;
  return { id: changeId, number, revision: commit, ref, isCurrentPatchSet };
}

function record(world: GerritWorld, change: FakeChange, state: ChangeState): Shape {
  const isReady = state.status === 'MERGED' || isSubmittable(world, change, state);
  const labels = labelVerdicts(change, state).map(({ label, status, by }) => ({
    label,
    status,
    ...(by === null ? {} : { by: eventAccount(by) }),
  }));
  return { status: isReady ? 'OK' : 'NOT_READY', labels };
}
