/** Submitting by REST, and what would be submitted together. */
import type { Shape } from '../../../github/fake/shape.ts';
import { seesChange } from '../authority.ts';
import { changeShape } from '../change-shape.ts';
import { readCommit } from '../commits.ts';
import { submit } from '../doing/submit.ts';
import { submittedTogether } from '../doing/together.ts';
import { changeOfCommit } from '../doing/upload.ts';
import { RestRefused } from '../rest-refused.ts';
import { personShape } from '../shapes.ts';
import { currentPatchSet, type FakeChange, type GerritWorld, gerritTime } from '../world.ts';
import { changeNamed, patchSetNamed, type RestAnswer, type RestCall, signedIn } from './call.ts';

export function postSubmit(call: RestCall): Promise<RestAnswer> {
  return submitted(call, changeNamed(call, call.parts[0] ?? ''));
}

export function postSubmitPatchSet(call: RestCall): Promise<RestAnswer> {
  const change = changeNamed(call, call.parts[0] ?? '');
  const patchSet = patchSetNamed(change, call.parts[1] ?? '');
  if (patchSet !== currentPatchSet(change.now) && change.now.status === 'NEW')
    throw new RestRefused(409, `revision ${patchSet.commit} is not current revision`);
  return submitted(call, change);
}

/** Gerrit 3.2 answers with the change as it was, though `submitted` and `submitter` are new. */
async function submitted(call: RestCall, change: FakeChange): Promise<RestAnswer> {
  const { world } = call;
  const viewer = signedIn(call);
  const before = await changeShape(world, change, { viewer, options: new Set() });
  await submit(world, viewer, change);
  if (world.version !== '3.2')
    return { status: 200, json: await changeShape(world, change, { viewer, options: new Set() }) };
  const json = {
    ...before,
    submitted: gerritTime(change.now.submittedAt ?? world.now()),
    submitter: { _account_id: viewer.id },
  };
  return { status: 200, json };
}

/** Empty where it is submitted alone. */
export async function getSubmittedTogether(call: RestCall): Promise<RestAnswer> {
  const { world, caller: viewer, query } = call;
  const change = changeNamed(call, call.parts[0] ?? '');
  const all = change.now.status === 'NEW' ? await submittedTogether(world, change) : [];
  const shown = all.length < 2 ? [] : all.filter(each => seesChange(viewer, each)).toReversed();
  const options = new Set([...query.getAll('o'), 'CURRENT_REVISION', 'SUBMITTABLE']);
  const changes = await Promise.all(shown.map(each => changeShape(world, each, { viewer, options })));
  if (!query.getAll('o').includes('NON_VISIBLE_CHANGES')) return { status: 200, json: changes };
  return {
    status: 200,
    json: { changes, non_visible_changes: all.length < 2 ? 0 : all.length - shown.length },
  };
}

/** Children first, then the change itself, then what it is built on; empty where it stands alone. */
export async function getRelated(call: RestCall): Promise<RestAnswer> {
  const { world } = call;
  const change = changeNamed(call, call.parts[0] ?? '');
  patchSetNamed(change, call.parts[1] ?? '');
  const above = ancestors(world, change);
  const below = descendants(world, change);
  const all = [...below.toReversed(), change, ...above].filter(each => seesChange(call.caller, each));
  const changes = all.length < 2 ? [] : await Promise.all(all.map(relatedShape));
  return { status: 200, json: { changes } };
}

function ancestors(world: GerritWorld, change: FakeChange): readonly FakeChange[] {
  const found: FakeChange[] = [];
  for (let at: FakeChange | undefined = change; at !== undefined; ) {
    const [parent]: readonly string[] = currentPatchSet(at.now).parents;
    at = parent === undefined ? undefined : changeOfCommit(world, change.project, parent);
    if (at === undefined || found.includes(at)) return found;
    found.push(at);
  }
  return found;
}

function descendants(world: GerritWorld, change: FakeChange): readonly FakeChange[] {
  const commits = new Set(change.now.patchSets.map(each => each.commit));
  const children = [...world.changes.values()].filter(
    each =>
      each !== change &&
      each.project === change.project &&
      currentPatchSet(each.now).parents.some(id => commits.has(id)),
  );
  return children.flatMap(child => [child, ...descendants(world, child)]);
}

async function relatedShape({ project, changeId, number, now }: FakeChange): Promise<Shape> {
  const patchSet = currentPatchSet(now);
  const { author, parents, message } = await readCommit(project.dir, patchSet.commit);
  return {
    project: project.name,
    change_id: changeId,
    commit: {
      commit: patchSet.commit,
      parents: parents.map(commit => ({ commit })),
      author: personShape(author),
      subject: message.split('\n')[0],
    },
    _change_number: number,
    _revision_number: patchSet.number,
    _current_revision_number: patchSet.number,
    status: now.status,
  };
}
