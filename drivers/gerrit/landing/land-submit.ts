/**
 * Landing by submit: Gerrit makes the commit that lands, as the project's submit type says.
 *
 *     merged already                                     landed, as the branch is (a lost answer is looked up here)
 *     the branch holds what the test began on, change open and at the tested patch set
 *                                                        our votes, submit, read until it is merged
 *     the branch holds another tree                      base-moved
 *     other open changes would be submitted with it      refused, unless they are of the same item
 *
 * Whether it landed is decided by reading change and branch afterwards, never by the answer: after a successful submit that may
 * still say NEW. Between the comparison and the submit the branch may move; the tree of what it holds then is reported, and
 * the caller compares it with the tested one.
 */

import type { LandingOutcome } from '../../../src/driver/landing.ts';
import { LandingUnread, LandingUnsettled } from '../../../src/driver/landing-errors.ts';
import { assertNever } from '../../../src/lib/assert-never.ts';
import type { LandedBranch } from '../../../src/model/landed.ts';
import { parseCommitId } from '../../../src/model/project.ts';
import { gerritRefusal, type NotTaken, revisionPath } from '../reporting/report-context.ts';
import { readSiblings, type SiblingNow, siblingsObstacle } from './item-siblings.ts';
import { type GerritLandingContext, gerritIsBusy, landedIn } from './landing-context.ts';
import { changeObstacle, type GerritLandingNow, readGerritLandingNow } from './landing-now.ts';
import { giveVotes, takeVotesBack } from './own-votes.ts';
import { judgeSubmitRefusal } from './submit-refusal.ts';
import { readSubmittedTogether, togetherObstacle } from './submitted-together.ts';

/** @throws LandingUnread, LandingUnsettled. */
export async function landBySubmit(context: GerritLandingContext): Promise<LandingOutcome> {
  const [now, together, siblings] = await Promise.all([
    readGerritLandingNow(context),
    readSubmittedTogether(context),
    readSiblings(context),
  ]);
  if (now.kind !== 'ok') return unread(now);
  if (siblings.kind !== 'ok') return unread(siblings);
  const item = siblings.data;
  const settled = await settledBy(now.data, item, context);
  if (settled !== undefined) return settled;
  if (together.kind !== 'ok') return unread(together);
  // Once one has landed, the others have to follow.
  const isFirst = item.every(each => each.now?.status !== 'MERGED');
  const obstacle = togetherObstacle(together.data) ?? (isFirst ? siblingsObstacle(item, false) : undefined);
  if (obstacle !== undefined) return { kind: 'refused', text: obstacle };
  const others = item.filter(({ change }) => isFirst || together.data.siblings.includes(Number(change.id)));
  const voted = await giveVotes(others, now.data, context);
  if (voted.kind !== 'given') return { kind: 'later', ...voted.later };
  const unfit = isFirst ? await unfitItem(context) : undefined;
  const outcome = unfit ?? (await submit(now.data, item, voted.given.missing, context));
  if (outcome.kind === 'refused' || outcome.kind === 'base-moved') await takeVotesBack(voted.given, context);
  return outcome;
}

/** With our votes, before anything is submitted. @returns undefined: Gerrit would submit the other changes of the item, too. */
async function unfitItem(context: GerritLandingContext): Promise<LandingOutcome | undefined> {
  const siblings = await readSiblings(context);
  if (siblings.kind !== 'ok') return unread(siblings);
  const text = siblingsObstacle(siblings.data, true);
  return text === undefined ? undefined : { kind: 'refused', text };
}

/** What has landed so far; empty: nothing. @throws LandingUnread, LandingUnsettled. */
export async function landedBySubmit(context: GerritLandingContext): Promise<readonly LandedBranch[]> {
  const now = await readGerritLandingNow(context);
  if (now.kind === 'later' || now.kind === 'lost') throw new LandingUnread(now.later);
  if (now.kind === 'refused' || now.data.status !== 'MERGED' || now.data.tip === null) return [];
  return [await branchAfter(now.data, now.data.tip, context)];
}

/** The outcome when Gerrit could not be read, or does not show the change. */
function unread(answer: NotTaken): LandingOutcome {
  if (answer.kind !== 'refused') return { kind: 'later', ...answer.later };
  const text = gerritRefusal(answer, 'to show the change');
  if (answer.status !== 404) return { kind: 'refused', text };
  return { kind: 'refused', text: `${text}: it was deleted, is private, or is hidden from our account` };
}

/** The outcome when nothing is to be submitted; undefined: submit. @throws LandingUnread, LandingUnsettled. */
async function settledBy(
  now: GerritLandingNow,
  item: readonly SiblingNow[],
  context: GerritLandingContext,
): Promise<LandingOutcome | undefined> {
  const { tip } = now;
  const { change, tested } = context;
  if (tip === null) return { kind: 'refused', text: `branch ${change.branch} is gone` };
  if (now.status === 'MERGED') return landedIn(await branchAfter(now, tip, context));
  const obstacle = changeObstacle(now, context);
  if (obstacle !== undefined) return { kind: 'refused', text: obstacle };
  if (tip === tested.before) return undefined;
  const tree = await context.tips.treeOf(change.project, change.branch, tip);
  if (tree.kind === 'unread') throw new LandingUnread(tree);
  // What was tested may be there already, pushed by hand: then Gerrit has nothing to merge, and closes the change.
  if (tree.tree === tested.beforeTree || tree.tree === tested.tree) return undefined;
  if (hasLandedBeside(item, context)) return undefined;
  const text = `${change.branch} is at ${tip.slice(0, 8)} and holds another tree than ${tested.before.slice(0, 8)}, on which it was tested`;
  return { kind: 'base-moved', text };
}

/** Changes of an item land one after the other: between them a branch holds a part of what was tested together. */
function hasLandedBeside(
  item: readonly SiblingNow[],
  { change }: Pick<GerritLandingContext, 'change'>,
): boolean {
  return item.some(
    each =>
      each.now?.status === 'MERGED' &&
      each.change.project === change.project &&
      each.change.branch === change.branch,
  );
}

/** The change is merged. @throws LandingUnsettled. */
async function branchAt(tip: string, { change, tips }: GerritLandingContext): Promise<LandedBranch> {
  const { project, branch } = change;
  const tree = await tips.treeOf(project, branch, tip);
  if (tree.kind === 'unread') {
    const text = `merged, and what ${branch} holds could not be read: ${tree.text}`;
    throw new LandingUnsettled({ reason: tree.reason, text });
  }
  return { project, branch, commit: parseCommitId(tip), tree: tree.tree };
}

/**
 * The change was merged earlier. Others may have landed since: what it was tested with is compared with what the branch held then.
 * An item with more changes for the branch is tested as a whole: there the branch counts as it is now.
 *
 * @throws LandingUnsettled.
 */
async function branchAfter(
  { revision }: Pick<GerritLandingNow, 'revision'>,
  tip: string,
  context: GerritLandingContext,
): Promise<LandedBranch> {
  const now = await branchAt(tip, context);
  const { project, branch } = context.change;
  if (context.siblings.some(each => each.project === project && each.branch === branch)) return now;
  const commit = await context.tips.landedAt(project, tip, revision);
  return commit === tip ? now : branchAt(commit, context);
}

/** One submit, whose lost answer is looked up. @param missing votes that Gerrit did not take from us. */
async function submit(
  before: GerritLandingNow,
  item: readonly SiblingNow[],
  missing: string | undefined,
  context: GerritLandingContext,
): Promise<LandingOutcome> {
  const { api, call, change } = context;
  const answer = await api.ask(
    {
      operation: 'changes/submit',
      method: 'POST',
      path: `${revisionPath(change)}/submit`,
      body: {},
    },
    call,
  );
  switch (answer.kind) {
    case 'ok':
      return merged(before, context);
    case 'later':
      return { kind: 'later', ...answer.later };
    case 'lost': {
      const now = await readGerritLandingNow(context);
      if (now.kind === 'ok' && now.data.status === 'MERGED') return merged(before, context);
      throw new LandingUnsettled(answer.later);
    }
    case 'refused':
      return afterRefusal(answer, before, item, missing, context);
    default:
      return assertNever(answer);
  }
}

/** Milliseconds before each reading: what Gerrit merged, it shows at once or, from a replica, a little later. */
const PAUSES = [0, 100, 400, 1_000, 2_000, 4_000] as const;

/** Gerrit took the submit. @throws LandingUnsettled when it does not show it as merged. */
async function merged(before: GerritLandingNow, context: GerritLandingContext): Promise<LandingOutcome> {
  const { call, change, tested } = context;
  let trouble: LandingUnsettled['trouble'] = {
    reason: 'other',
    text: 'submitted, and Gerrit does not show the change as merged yet',
  };
  let landed: LandedBranch | undefined;
  for (const ms of PAUSES) {
    if (ms > 0) await context.wait(ms, call.signal);
    call.signal.throwIfAborted();
    const now = await readGerritLandingNow(context);
    if (now.kind !== 'ok') {
      if (now.kind !== 'refused') trouble = now.later;
      continue;
    }
    if (now.data.status !== 'MERGED') continue;
    const { tip } = now.data;
    if (tip === null) return { kind: 'refused', text: `it is merged, and branch ${change.branch} is gone` };
    landed = await branchAt(tip, context);
    // The branch may have had all of it before; otherwise this reading of the branch is behind that of the change.
    if (tip !== before.tip || landed.tree === tested.tree) return landedIn(landed);
  }
  if (landed !== undefined) return landedIn(landed);
  throw new LandingUnsettled(trouble);
}

async function afterRefusal(
  { status, text }: Extract<NotTaken, { readonly kind: 'refused' }>,
  before: GerritLandingNow,
  item: readonly SiblingNow[],
  missing: string | undefined,
  context: GerritLandingContext,
): Promise<LandingOutcome> {
  const meaning = judgeSubmitRefusal(status, text, Number(context.change.id));
  if (meaning.kind === 'merged') return merged(before, context);
  const said = `${meaning.text}${missing === undefined ? '' : `; ${missing}`}`;
  if (meaning.kind === 'refused') return { kind: 'refused', text: said };
  const now = await readGerritLandingNow(context);
  if (now.kind !== 'ok') return unread(now);
  const settled = await settledBy(now.data, item, context);
  if (settled !== undefined) return settled;
  // By what it shows nothing has moved: the conflict is Gerrit's own.
  return meaning.kind === 'conflict' ? { kind: 'refused', text: said } : gerritIsBusy(said, context);
}
