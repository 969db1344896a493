/** Stream events as a real Gerrit 3.2 writes them, fields in its order. A field that does not hold is absent, never false. */
import type { Shape } from '../../github/fake/shape.ts';
import { may, seesChange } from './authority.ts';
import { NO_COMMIT } from './bare-git.ts';
import {
  currentPatchSet,
  type EmittedEvent,
  type FakeAccount,
  type FakeChange,
  type FakeProject,
  type GerritWorld,
  type PatchSet,
  subjectOf,
  votesOn,
} from './world.ts';

export function eventAccount({ name, email, username }: FakeAccount): Shape {
  return { name, email, username };
}

export function changeUrl({ origin }: GerritWorld, { project, number }: FakeChange): string {
  return `${origin}/c/${project.name}/+/${number}`;
}

export function eventChange(world: GerritWorld, change: FakeChange): Shape {
  const { now, project, changeId, number, owner, createdAt } = change;
  return {
    project: project.name,
    branch: now.branch,
    ...(now.topic === null ? {} : { topic: now.topic }),
    id: changeId,
    number,
    subject: subjectOf(now),
    owner: eventAccount(owner),
    url: changeUrl(world, change),
    commitMessage: currentPatchSet(now).message,
    ...(now.hashtags.length === 0 ? {} : { hashtags: now.hashtags }),
    createdOn: Math.trunc(createdAt / 1000),
    status: now.status,
    ...(now.wip ? { wip: true } : {}),
    ...(now.private ? { private: true } : {}),
  };
}

export function eventPatchSet(patchSet: PatchSet): Shape {
  const author = { name: patchSet.author.name, email: patchSet.author.email };
  const { uploader } = patchSet;
  return {
    number: patchSet.number,
    revision: patchSet.commit,
    parents: patchSet.parents,
    ref: patchSet.ref,
    uploader: eventAccount(uploader),
    createdOn: Math.trunc(patchSet.at / 1000),
    author: author.email === uploader.email ? { ...author, username: uploader.username } : author,
    kind: patchSet.kind,
    sizeInsertions: patchSet.insertions,
    sizeDeletions: patchSet.deletions === 0 ? 0 : -patchSet.deletions,
  };
}

export interface RefMove {
  readonly project: FakeProject;
  /** Full name. */
  readonly ref: string;
  readonly before: string | null;
  readonly after: string | null;
  /** Null: Gerrit itself. */
  readonly by: FakeAccount | null;
}

export function refUpdated(world: GerritWorld, { project, ref, before, after, by }: RefMove): EmittedEvent {
  const json = {
    ...(by === null ? {} : { submitter: eventAccount(by) }),
    refUpdate: {
      oldRev: before ?? NO_COMMIT,
      newRev: after ?? NO_COMMIT,
      refName: ref,
      project: project.name,
    },
    type: 'ref-updated',
    eventCreatedOn: seconds(world),
  };
  return { json, visibleTo: account => account === null || may(account, 'read', project) };
}

/** Every label with this account's vote; `before`: what it was where it changed. */
export function eventApprovals(
  { project, now }: FakeChange,
  account: FakeAccount,
  patchSet: number,
  before: ReadonlyMap<string, number>,
): readonly Shape[] {
  const votes = votesOn(now, patchSet).filter(vote => vote.by === account);
  return project.labels.map(({ name }) => {
    const value = votes.find(vote => vote.label === name)?.value ?? 0;
    const old = before.get(name);
    return {
      type: name,
      description: name,
      value: String(value),
      ...(old === undefined ? {} : { oldValue: String(old) }),
    };
  });
}

/**
 * An event of a change. What it says of the change is taken now.
 *
 * @param own fields in front, e.g. who did it
 * @param patchSet of comments and the like; absent: the event has none
 */
export function changeEvent(
  world: GerritWorld,
  type: string,
  change: FakeChange,
  own: Shape,
  patchSet?: PatchSet,
): EmittedEvent {
  const json = {
    ...own,
    ...(patchSet === undefined ? {} : { patchSet: eventPatchSet(patchSet) }),
    change: eventChange(world, change),
    project: change.project.name,
    refName: `refs/heads/${change.now.branch}`,
    changeKey: { id: change.changeId },
    type,
    eventCreatedOn: seconds(world),
  };
  // Taken now: who may see it later is of no interest to the stream.
  const seen = new Set([...world.accounts.values()].filter(account => seesChange(account, change)));
  return { json, visibleTo: account => account === null || seen.has(account) };
}

export function projectCreated(world: GerritWorld, project: FakeProject): EmittedEvent {
  const json = {
    projectName: project.name,
    headName: `refs/heads/${project.head}`,
    type: 'project-created',
    eventCreatedOn: seconds(world),
  };
  return { json, visibleTo: account => account === null || may(account, 'read', project) };
}

function seconds(world: GerritWorld): number {
  return Math.trunc(world.now() / 1000);
}
