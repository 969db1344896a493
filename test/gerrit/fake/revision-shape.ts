/** The `revisions` of ChangeInfo, with what their options add. */
import type { Shape } from '../../github/fake/shape.ts';
import { may } from './authority.ts';
import type { ShapeRequest } from './change-shape.ts';
import { fileStats, readCommit } from './commits.ts';
import { personShape } from './shapes.ts';
import { isSubmittable } from './submittable.ts';
import {
  type ChangeState,
  currentPatchSet,
  type FakeAccount,
  type FakeChange,
  type GerritWorld,
  gerritTime,
  type PatchSet,
} from './world.ts';

export interface RevisionRequest {
  readonly world: GerritWorld;
  readonly change: FakeChange;
  readonly state: ChangeState;
  readonly request: ShapeRequest;
  readonly mergeable: boolean;
  readonly account: (account: FakeAccount) => Shape;
}

/** Nothing unless an option asks for it. */
export async function revisionShapes(of: RevisionRequest): Promise<Shape> {
  const { options } = of.request;
  const asked = ['ALL_REVISIONS', 'CURRENT_REVISION', 'CURRENT_COMMIT', 'CURRENT_FILES'];
  if (!asked.some(each => options.has(each))) return {};
  const current = currentPatchSet(of.state);
  const shown = options.has('ALL_REVISIONS') ? of.state.patchSets.toReversed() : [current];
  const entries = await Promise.all(
    shown.map(async each => [each.commit, await revision(of, each, each === current)] as const),
  );
  return { current_revision: current.commit, revisions: Object.fromEntries(entries) };
}

async function revision(of: RevisionRequest, patchSet: PatchSet, isCurrent: boolean): Promise<Shape> {
  const { options } = of.request;
  const { dir } = of.change.project;
  const wants = (what: string) =>
    options.has(`ALL_${what}S`) || (isCurrent && options.has(`CURRENT_${what}`));
  const files = options.has('ALL_FILES') || (isCurrent && options.has('CURRENT_FILES'));
  return {
    kind: patchSet.kind,
    _number: patchSet.number,
    created: gerritTime(patchSet.at),
    uploader: of.account(patchSet.uploader),
    ref: patchSet.ref,
    fetch: {},
    ...(wants('COMMIT') ? { commit: await commitShape(dir, patchSet) } : {}),
    ...(files ? { files: await filesShape(dir, patchSet.commit) } : {}),
    ...(isCurrent && options.has('CURRENT_ACTIONS') ? { actions: actions(of, patchSet) } : {}),
    ...(patchSet.description === null ? {} : { description: patchSet.description }),
  };
}

/** `submit` is there for those with the right to, when nothing is missing; a conflict leaves it without `enabled`. */
function actions({ world, change, state, request, mergeable }: RevisionRequest, patchSet: PatchSet): Shape {
  if (request.viewer === null || state.status !== 'NEW') return {};
  const picks = {
    method: 'POST',
    label: 'Cherry Pick',
    title: 'Cherry pick change to a different branch',
    enabled: true,
  };
  const title = mergeable
    ? `Submit patch set ${patchSet.number} into ${state.branch}`
    : 'Problems with integrating this change';
  const submit = { method: 'POST', label: 'Submit', title, ...(mergeable ? { enabled: true } : {}) };
  const offered =
    isSubmittable(world, change, state) && !state.wip && may(request.viewer, 'submit', change.project);
  const rebase = { method: 'POST', label: 'Rebase', title: 'Rebase onto tip of branch or parent change' };
  return { cherrypick: picks, ...(offered ? { submit } : {}), rebase };
}

async function commitShape(dir: string, { commit }: PatchSet): Promise<Shape> {
  const { parents, author, committer, message } = await readCommit(dir, commit);
  const subjects = await Promise.all(
    parents.map(async parent => ({
      commit: parent,
      subject: (await readCommit(dir, parent)).message.split('\n')[0],
    })),
  );
  return {
    parents: subjects,
    author: personShape(author),
    committer: personShape(committer),
    subject: message.split('\n')[0],
    message,
  };
}

/** By path, without the commit message. */
export async function filesShape(dir: string, commit: string): Promise<Shape> {
  const files = (await fileStats(dir, commit)).map(each => [
    each.path,
    {
      ...(each.status === 'M' ? {} : { status: each.status }),
      ...(each.inserted === 0 ? {} : { lines_inserted: each.inserted }),
      ...(each.deleted === 0 ? {} : { lines_deleted: each.deleted }),
      size_delta: each.inserted - each.deleted,
      size: each.inserted,
    },
  ]);
  return Object.fromEntries(files);
}
