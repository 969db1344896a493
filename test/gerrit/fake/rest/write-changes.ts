/** Requests that change a change. Each is one writer among others: the server runs them one after the other. */
import { isShape } from '../../../github/fake/shape.ts';
import { changeShape } from '../change-shape.ts';
import { editMessage } from '../doing/edit-message.ts';
import { addReviewer, deleteReviewer, deleteVote } from '../doing/reviewers.ts';
import {
  abandon,
  deleteChange,
  move,
  restore,
  setHashtags,
  setPrivate,
  setTopic,
  setWip,
} from '../doing/settings.ts';
import { RestRefused } from '../rest-refused.ts';
import { accountShape } from '../shapes.ts';
import type { FakeAccount, FakeChange, GerritWorld } from '../world.ts';
import { accountOf, bodyOf, changeNamed, type RestAnswer, type RestCall, signedIn, textIn } from './call.ts';

interface Target {
  readonly world: GerritWorld;
  readonly by: FakeAccount;
  readonly change: FakeChange;
}

function target(call: RestCall): Target {
  const change = changeNamed(call, call.parts[0] ?? '');
  return { world: call.world, by: signedIn(call), change };
}

async function shown({ world, by, change }: Target): Promise<RestAnswer> {
  return { status: 200, json: await changeShape(world, change, { viewer: by, options: new Set() }) };
}

export async function postAbandon(call: RestCall): Promise<RestAnswer> {
  const on = target(call);
  await abandon(on.world, on.by, on.change, textIn(bodyOf(call), 'message'));
  return shown(on);
}

export async function postRestore(call: RestCall): Promise<RestAnswer> {
  const on = target(call);
  await restore(on.world, on.by, on.change, textIn(bodyOf(call), 'message'));
  return shown(on);
}

export async function postWip(call: RestCall): Promise<RestAnswer> {
  const { world, by, change } = target(call);
  await setWip(world, by, change, true, textIn(bodyOf(call), 'message'));
  return { status: 200, json: '' };
}

export async function postReady(call: RestCall): Promise<RestAnswer> {
  const { world, by, change } = target(call);
  await setWip(world, by, change, false, textIn(bodyOf(call), 'message'));
  return { status: 200, json: '' };
}

export async function postPrivate(call: RestCall): Promise<RestAnswer> {
  const { world, by, change } = target(call);
  const known = change.now.private;
  await setPrivate(world, by, change, true);
  return { status: known ? 200 : 201, json: '' };
}

export async function deletePrivate(call: RestCall): Promise<RestAnswer> {
  const { world, by, change } = target(call);
  await setPrivate(world, by, change, false);
  return { status: 204 };
}

export async function putTopic(call: RestCall): Promise<RestAnswer> {
  const { world, by, change } = target(call);
  const topic = textIn(bodyOf(call), 'topic')?.trim() ?? '';
  await setTopic(world, by, change, topic === '' ? null : topic);
  return topic === '' ? { status: 204 } : { status: 200, json: topic };
}

export async function deleteTopic(call: RestCall): Promise<RestAnswer> {
  const { world, by, change } = target(call);
  await setTopic(world, by, change, null);
  return { status: 204 };
}

export async function postHashtags(call: RestCall): Promise<RestAnswer> {
  const { world, by, change } = target(call);
  const body = bodyOf(call);
  const list = (name: string) => {
    const value = body[name];
    return Array.isArray(value) ? value.map(String) : [];
  };
  return {
    status: 200,
    json: await setHashtags(world, by, change, { add: list('add'), remove: list('remove') }),
  };
}

export async function postMove(call: RestCall): Promise<RestAnswer> {
  const on = target(call);
  const branch = textIn(bodyOf(call), 'destination_branch');
  if (branch === undefined) throw new RestRefused(400, 'destination branch is required');
  await move(on.world, on.by, on.change, branch);
  return shown(on);
}

export async function removeChange(call: RestCall): Promise<RestAnswer> {
  const { world, by, change } = target(call);
  await deleteChange(world, by, change);
  return { status: 204 };
}

export async function putMessage(call: RestCall): Promise<RestAnswer> {
  const { world, by, change } = target(call);
  await editMessage(world, by, change, textIn(bodyOf(call), 'message') ?? '');
  return { status: 200, json: 'ok' };
}

export async function postReviewers(call: RestCall): Promise<RestAnswer> {
  const { world, by, change } = target(call);
  const body = bodyOf(call);
  const input = textIn(body, 'reviewer') ?? '';
  const state = body.state === 'CC' ? 'CC' : 'REVIEWER';
  const reviewer = accountOf(call, input);
  await addReviewer(world, by, change, reviewer, state);
  const approvals = Object.fromEntries(change.project.labels.map(each => [each.name, ' 0']));
  const list = [{ approvals, ...accountShape(reviewer, true) }];
  return { status: 200, json: { input, [state === 'CC' ? 'ccs' : 'reviewers']: list } };
}

export async function removeReviewer(call: RestCall): Promise<RestAnswer> {
  const { world, by, change } = target(call);
  await deleteReviewer(world, by, change, accountOf(call, call.parts[1] ?? ''));
  return { status: 204 };
}

export async function removeVote(call: RestCall): Promise<RestAnswer> {
  const { world, by, change } = target(call);
  await deleteVote(world, by, change, accountOf(call, call.parts[1] ?? ''), call.parts[2] ?? '');
  return { status: 204 };
}

/** Of an object in a body; others: empty. */
export function entriesIn(value: unknown): readonly (readonly [string, unknown])[] {
  return isShape(value) ? Object.entries(value) : [];
}
