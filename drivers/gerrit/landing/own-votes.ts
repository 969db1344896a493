/**
 * Our votes, given before the submission that they may be required for, and taken back when nothing lands. The message about it comes
 * after the landing: a change that was not submitted has no message that says it succeeded.
 */
import { changeText, type ProposedChange } from '../../../src/model/change.ts';
import type { LabelVote, NotTaken } from '../reporting/report-context.ts';
import type { DroppedVote } from '../reporting/review-message.ts';
import { droppedText } from '../reporting/review-message.ts';
import { sendReview } from '../reporting/send-review.ts';
import type { SiblingNow } from './item-siblings.ts';
import type { GerritLandingContext } from './landing-context.ts';
import type { GerritChangeNow } from './landing-now.ts';

/** What was given, and how it was before. */
export interface GivenVotes {
  readonly undo: readonly { readonly change: ProposedChange; readonly votes: readonly LabelVote[] }[];
  /** For people: what Gerrit did not take of the change itself; undefined: it has all. */
  readonly missing: string | undefined;
}

type Context = Pick<GerritLandingContext, 'api' | 'log' | 'call' | 'change' | 'votes' | 'tag' | 'ourselves'>;

/** To the change and to others of its item. What Gerrit does not take is no reason not to submit: Gerrit decides. */
export async function giveVotes(
  others: readonly SiblingNow[],
  now: Pick<GerritChangeNow, 'votes'>,
  context: Context,
): Promise<
  { readonly kind: 'given'; readonly given: GivenVotes } | Extract<NotTaken, { kind: 'later' | 'lost' }>
> {
  const { change, votes, ourselves, call } = context;
  if (votes.length === 0) return { kind: 'given', given: { undo: [], missing: undefined } };
  const account = await ourselves(call);
  if (account.kind === 'later' || account.kind === 'lost') return account;
  const self = account.kind === 'ok' ? account.data : null;
  const all = [{ change, now }, ...others];
  const undo: GivenVotes['undo'][number][] = [];
  let missing: string | undefined;
  for (const { change: to, now: held } of all) {
    const before = (label: string) =>
      held?.votes.find(each => each.account === self && each.label === label)?.value ?? 0;
    const wanted = votes.filter(({ label, value }) => self === null || before(label) !== value);
    if (wanted.length === 0) continue;
    const dropped = await vote(to, wanted, context);
    if ('kind' in dropped) {
      if (dropped.kind !== 'refused') return dropped;
      if (to === change) missing = dropped.text;
      continue;
    }
    const given = wanted.filter(({ label }) => dropped.every(each => each.label !== label));
    const earlier = given.map(({ label }) => ({ label, value: before(label) }));
    undo.push({ change: to, votes: earlier });
    if (to === change && dropped.length > 0) missing = droppedText(dropped);
  }
  return { kind: 'given', given: { undo, missing } };
}

/** Best effort: what fails is logged, and the pipeline's report of the failure votes again. */
export async function takeVotesBack({ undo }: GivenVotes, context: Context): Promise<void> {
  for (const { change, votes } of undo) {
    const dropped = await vote(change, votes, context);
    if (!('kind' in dropped) && dropped.length === 0) continue;
    const reason = 'kind' in dropped ? textOfNotTaken(dropped) : droppedText(dropped);
    context.log.warn({ change: changeText(change), reason }, 'our votes could not be taken back');
  }
}

function textOfNotTaken(answer: NotTaken): string {
  return answer.kind === 'refused' ? answer.text : answer.later.text;
}

async function vote(
  change: ProposedChange,
  votes: readonly LabelVote[],
  { api, log, call, tag }: Context,
): Promise<readonly DroppedVote[] | NotTaken> {
  const review = {
    ...{ change, tag, votes, notify: 'NONE' as const, remarks: [], message: undefined },
    lines: { comments: {}, leftOut: [] },
  };
  const sent = await sendReview(review, { api, log, call });
  switch (sent.kind) {
    case 'sent':
      return sent.dropped;
    case 'closed':
      return { kind: 'refused', status: 409, text: sent.text };
    case 'gone':
      return { kind: 'refused', status: 404, text: sent.text };
    default:
      return sent;
  }
}
