/** Votes and comments, with Gerrit's refusals and its words. */
import { randomBytes } from 'node:crypto';
import { labelRange } from '../authority.ts';
import { fileStats } from '../commits.ts';
import { changeEvent, eventAccount, eventApprovals } from '../events.ts';
import { RestRefused } from '../rest-refused.ts';
import {
  type ChangeState,
  currentPatchSet,
  type FakeAccount,
  type FakeChange,
  type FileComment,
  type GerritWorld,
  type PatchSet,
  votesOn,
} from '../world.ts';
import { note } from './note.ts';
import { withReviewer } from './reviewers.ts';

export interface ReviewInput {
  readonly message?: string;
  readonly labels?: { readonly [label: string]: number };
  readonly tag?: string;
  readonly comments?: { readonly [path: string]: readonly CommentInput[] };
  readonly omitDuplicateComments?: boolean;
  /** Work in progress from now on, or no more. */
  readonly wip?: boolean;
}

export interface CommentInput {
  readonly line?: number;
  readonly message?: string;
  readonly unresolved?: boolean;
}

/** Characters of a message or of one comment. */
const COMMENT_LIMIT = 16_384;

/** @returns the labels that were taken: one that the project does not have is dropped without a word */
export async function review(
  world: GerritWorld,
  by: FakeAccount,
  change: FakeChange,
  patchSet: PatchSet,
  input: ReviewInput,
): Promise<{ readonly [label: string]: number }> {
  const labels = Object.fromEntries(
    Object.entries(input.labels ?? {}).filter(([name]) =>
      change.project.labels.some(each => each.name === name),
    ),
  );
  checkVotes(change, by, patchSet, labels);
  const comments = await commentsOf(world.now(), change, by, patchSet, input);
  const before = changedVotes(change.now, by, patchSet, labels);
  const text = input.message?.trim() ?? '';
  const flips = input.wip !== undefined && input.wip !== change.now.wip;
  if (before.size === 0 && comments.length === 0 && text === '' && !flips) return labels;
  const header = headerOf(patchSet, labels, before, comments.length, text);
  const fields = fieldsOf(world, change, by, patchSet, { labels, before, comments, tag: input.tag ?? null });
  const wip = flips ? { wip: input.wip === true, reviewStarted: change.now.reviewStarted || !input.wip } : {};
  const said = { text: header, tag: input.tag ?? null, patchSet: patchSet.number };
  world.emit(await note(world, change, by, { ...fields, ...wip }, said));
  const own = {
    author: eventAccount(by),
    approvals: eventApprovals(change, by, patchSet.number, before),
    comment: header,
  };
  world.emit(changeEvent(world, 'comment-added', change, own, patchSet));
  if (flips)
    world.emit(
      changeEvent(
        world,
        'wip-state-changed',
        change,
        { changer: eventAccount(by) },
        currentPatchSet(change.now),
      ),
    );
  return labels;
}

function checkVotes(
  change: FakeChange,
  by: FakeAccount,
  patchSet: PatchSet,
  labels: { readonly [label: string]: number },
): void {
  const names = Object.keys(labels);
  if (names.length === 0) return;
  if (change.now.status === 'ABANDONED') throw new RestRefused(409, 'change is closed');
  for (const name of names) {
    const value = labels[name] ?? 0;
    const type = change.project.labels.find(each => each.name === name);
    if (type !== undefined && !(value in type.values))
      throw new RestRefused(403, `Applying label "${name}": ${value} is restricted`);
    const range = labelRange(change.project, by, name);
    if (value !== 0 && (range === null || value < range.min || value > range.max))
      throw new RestRefused(403, `Applying label "${name}": ${value} is restricted`);
  }
  if (change.now.status !== 'MERGED') return;
  const reduced = names.filter(name => (labels[name] ?? 0) < voteOf(change.now, by, patchSet, name));
  if (reduced.length > 0)
    throw new RestRefused(409, `Cannot reduce vote on labels for closed change: ${reduced.join(', ')}`);
}

function voteOf(state: ChangeState, by: FakeAccount, patchSet: PatchSet, label: string): number {
  return votesOn(state, patchSet.number).find(vote => vote.by === by && vote.label === label)?.value ?? 0;
}

/** Label → its value before, of those that change. */
function changedVotes(
  state: ChangeState,
  by: FakeAccount,
  patchSet: PatchSet,
  labels: { readonly [label: string]: number },
): ReadonlyMap<string, number> {
  const pairs = Object.entries(labels).map(([name, value]) => {
    const before = voteOf(state, by, patchSet, name);
    return [name, before, value] as const;
  });
  return new Map(
    pairs.filter(([, before, value]) => before !== value).map(([name, before]) => [name, before]),
  );
}

function headerOf(
  patchSet: PatchSet,
  labels: { readonly [label: string]: number },
  changed: ReadonlyMap<string, number>,
  comments: number,
  text: string,
): string {
  const votes = [...changed.keys()].toSorted().map(name => {
    const value = labels[name] ?? 0;
    return value === 0 ? ` -${name}` : ` ${name}${value > 0 ? '+' : ''}${value}`;
  });
  const counted = comments === 0 ? [] : [`(${comments} comment${comments === 1 ? '' : 's'})`];
  const first = `Patch Set ${patchSet.number}:${votes.join('')}`;
  return [first, ...counted, ...(text === '' ? [] : [text])].join('\n\n');
}

async function commentsOf(
  at: number,
  change: FakeChange,
  by: FakeAccount,
  patchSet: PatchSet,
  { comments = {}, omitDuplicateComments = false, tag, message = '' }: ReviewInput,
): Promise<readonly FileComment[]> {
  const all = Object.entries(comments).flatMap(([path, list]) =>
    list.map(each => ({
      id: randomBytes(8).toString('hex'),
      messageId: '',
      at,
      path,
      line: each.line ?? null,
      text: each.message ?? '',
      unresolved: each.unresolved ?? false,
      by,
      patchSet: patchSet.number,
      tag: tag ?? null,
    })),
  );
  const long = [message, ...all.map(each => each.text)].find(text => text.length > COMMENT_LIMIT);
  if (long !== undefined)
    throw new RestRefused(
      400,
      `One or more comments were rejected in validation: Comment size exceeds limit (${long.length} > ${COMMENT_LIMIT})`,
    );
  const files = all.length === 0 ? [] : await fileStats(change.project.dir, patchSet.commit);
  const known = new Set([...files.map(each => each.path), '/COMMIT_MSG', '/PATCHSET_LEVEL']);
  const wrong = all.find(each => !known.has(each.path));
  if (wrong !== undefined)
    throw new RestRefused(
      400,
      `file ${wrong.path} not found in revision ${change.number},${patchSet.number}`,
    );
  if (all.some(each => each.line !== null && each.line < 0))
    throw new RestRefused(400, 'negative line number not allowed');
  const same = (a: FileComment, b: FileComment) =>
    a.path === b.path && a.line === b.line && a.text === b.text && a.patchSet === b.patchSet;
  return all.filter(
    each => each.text !== '' && !(omitDuplicateComments && change.now.comments.some(old => same(each, old))),
  );
}

interface Given {
  readonly labels: { readonly [label: string]: number };
  readonly before: ReadonlyMap<string, number>;
  readonly comments: readonly FileComment[];
  readonly tag: string | null;
}

function fieldsOf(
  world: GerritWorld,
  change: FakeChange,
  by: FakeAccount,
  patchSet: PatchSet,
  { labels, before, comments, tag }: Given,
): Partial<ChangeState> {
  const at = world.now();
  const others = change.now.votes.filter(
    vote => !(vote.by === by && vote.patchSet === patchSet.number && before.has(vote.label)),
  );
  const mine = [...before.keys()].map(label => ({
    label,
    value: labels[label] ?? 0,
    by,
    patchSet: patchSet.number,
    at,
    tag,
  }));
  const votes = mine.some(vote => vote.value !== 0);
  return {
    votes: [...others, ...mine],
    comments: [...change.now.comments, ...comments],
    ...(votes
      ? withReviewer(world, change, by, by, 'REVIEWER')
      : change.owner === by || change.now.reviewers.has(by.username)
        ? {}
        : withReviewer(world, change, by, by, 'CC')),
  };
}
