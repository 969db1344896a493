/** The `labels` of ChangeInfo. */
import type { Shape } from '../../github/fake/shape.ts';
import { labelRange } from './authority.ts';
import { blocks, highest, lowest } from './submittable.ts';
import {
  type ChangeState,
  currentPatchSet,
  type FakeAccount,
  type FakeChange,
  gerritTime,
  type LabelType,
  type Vote,
  votesOn,
} from './world.ts';

type ShowAccount = (account: FakeAccount) => Shape;

/** @param detailed with each reviewer's vote and the scale, as `DETAILED_LABELS` asks for */
export function labelInfos(
  change: FakeChange,
  state: ChangeState,
  detailed: boolean,
  account: ShowAccount,
): Shape {
  const types = change.project.labels.toSorted((a, b) => (a.name < b.name ? -1 : 1));
  return Object.fromEntries(
    types.map(type => [
      type.name,
      {
        ...summary(type, state, account),
        ...(detailed ? details(change, type, state, account) : {}),
        ...middleValue(type, state),
        default_value: 0,
        ...(type.function === 'MaxWithBlock' || type.function === 'MaxNoBlock' ? {} : { optional: true }),
      },
    ]),
  );
}

function votesFor(type: LabelType, state: ChangeState): readonly Vote[] {
  return votesOn(state).filter(vote => vote.label === type.name);
}

function summary(type: LabelType, state: ChangeState, account: ShowAccount): Shape {
  const votes = votesFor(type, state);
  const by = (fits: (value: number) => boolean) => votes.find(vote => fits(vote.value))?.by;
  const rejected = by(value => value < 0 && value === lowest(type));
  const approved = by(value => value > 0 && value === highest(type));
  if (rejected !== undefined)
    return { rejected: account(rejected), ...(blocks(type) ? { blocking: true } : {}) };
  if (approved !== undefined) return { approved: account(approved) };
  const disliked = by(value => value < 0);
  if (disliked !== undefined) return { disliked: account(disliked) };
  const recommended = by(value => value > 0);
  return recommended === undefined ? {} : { recommended: account(recommended) };
}

/** There only for votes that are neither the highest nor the lowest. */
function middleValue(type: LabelType, state: ChangeState): Shape {
  const votes = votesFor(type, state).map(vote => vote.value);
  if (votes.some(value => value === highest(type) || value === lowest(type))) return {};
  const value = votes.find(each => each < 0) ?? votes[0];
  return value === undefined ? {} : { value };
}

function details(change: FakeChange, type: LabelType, state: ChangeState, account: ShowAccount): Shape {
  const votes = votesFor(type, state);
  const patchSet = currentPatchSet(state).number;
  const voters = new Set(
    state.votes.filter(each => each.patchSet === patchSet && each.value !== 0).map(each => each.by),
  );
  const reviewers = [...state.reviewers.values()].map(each => each.account);
  const shown = state.status === 'NEW' ? new Set([...voters, ...reviewers]) : voters;
  const all = [...shown].map(each => {
    const vote = votes.find(given => given.by === each);
    return {
      ...(vote?.tag == null ? {} : { tag: vote.tag }),
      value: vote?.value ?? 0,
      ...(vote === undefined ? {} : { date: gerritTime(vote.at) }),
      ...range(change, type, state, each, vote),
      ...account(each),
    };
  });
  const scale = Object.keys(type.values)
    .map(Number)
    .toSorted((a, b) => a - b)
    .map(value => [value > 0 ? `+${value}` : value === 0 ? ' 0' : String(value), type.values[value]]);
  return { ...(all.length === 0 ? {} : { all }), values: Object.fromEntries(scale) };
}

function range(
  { project }: FakeChange,
  type: LabelType,
  state: ChangeState,
  account: FakeAccount,
  vote: Vote | undefined,
): Shape {
  const allowed = labelRange(project, account, type.name);
  if (state.status === 'MERGED')
    return vote === undefined ? {} : { permitted_voting_range: { min: vote.value, max: vote.value } };
  return allowed === null || state.status !== 'NEW' ? {} : { permitted_voting_range: allowed };
}
