/** ChangeInfo as a real Gerrit writes it: a field is there only where an option asks for it, or its value is not the default. */
import type { Shape } from '../../github/fake/shape.ts';
import { isAdministrator, labelRange } from './authority.ts';
import { labelInfos } from './label-shape.ts';
import { isMergeable } from './mergeable.ts';
import { revisionShapes } from './revision-shape.ts';
import { accountShape } from './shapes.ts';
import { isSubmittable, labelVerdicts, requirementResults } from './submittable.ts';
import {
  type ChangeState,
  currentPatchSet,
  type FakeAccount,
  type FakeChange,
  type GerritWorld,
  gerritTime,
  subjectOf,
} from './world.ts';

export interface ShapeRequest {
  readonly viewer: FakeAccount | null;
  /** `o=` options. */
  readonly options: ReadonlySet<string>;
  /** Absent: the newest state. */
  readonly state?: ChangeState;
}

/** What `changes/N/detail` adds to the options. */
export const DETAIL_OPTIONS = [
  'LABELS',
  'DETAILED_LABELS',
  'DETAILED_ACCOUNTS',
  'MESSAGES',
  'REVIEWER_UPDATES',
] as const;

export async function changeShape(
  world: GerritWorld,
  change: FakeChange,
  request: ShapeRequest,
): Promise<Shape> {
  const { options, state = change.now } = request;
  const detailed = options.has('DETAILED_ACCOUNTS');
  const account = (each: FakeAccount) => accountShape(each, detailed);
  const open = state.status === 'NEW';
  const patchSet = currentPatchSet(state);
  const mergeable = open && !state.wip ? await isMergeable(change.project, state) : undefined;
  const labels = options.has('LABELS') || options.has('DETAILED_LABELS');
  return {
    ...identity(world, change, state),
    subject: subjectOf(state),
    status: state.status,
    created: gerritTime(change.createdAt),
    updated: gerritTime(state.updatedAt),
    ...(state.submittedAt === null ? {} : { submitted: gerritTime(state.submittedAt) }),
    ...(state.submitter === null ? {} : { submitter: account(state.submitter) }),
    ...(open ? { submit_type: change.project.submitType } : {}),
    ...(mergeable === undefined ? {} : { mergeable }),
    ...(open && options.has('SUBMITTABLE') ? { submittable: isSubmittable(world, change, state) } : {}),
    insertions: patchSet.insertions,
    deletions: patchSet.deletions,
    total_comment_count: state.comments.length,
    unresolved_comment_count: state.comments.filter(each => each.unresolved).length,
    ...(state.private ? { is_private: true } : {}),
    ...(state.wip ? { work_in_progress: true } : {}),
    has_review_started: state.reviewStarted,
    ...(state.submissionId === null ? {} : { submission_id: state.submissionId }),
    ...(world.version === '3.2' ? {} : { meta_rev_id: change.meta }),
    _number: change.number,
    ...(world.version === '3.2' ? {} : { virtual_id_number: change.number }),
    owner: account(change.owner),
    ...(labels ? { labels: labelInfos(change, state, options.has('DETAILED_LABELS'), account) } : {}),
    ...(options.has('DETAILED_LABELS') ? people(change, state, request, account) : {}),
    ...(options.has('REVIEWER_UPDATES') ? { reviewer_updates: updates(state, account) } : {}),
    ...(options.has('MESSAGES') ? { messages: messages(state, account) } : {}),
    ...(await revisionShapes({ world, change, state, request, mergeable: mergeable ?? false, account })),
    ...(options.has('TRACKING_IDS') ? { tracking_ids: [] } : {}),
    requirements: [],
    ...(world.version === '3.2' ? {} : rules(world, change, state, options)),
  };
}

function identity(world: GerritWorld, change: FakeChange, state: ChangeState): Shape {
  const name = encodeURIComponent(change.project.name);
  const triplet = `${name}~${encodeURIComponent(state.branch)}~${change.changeId}`;
  return {
    ...(world.version === '3.2' ? { id: triplet } : { id: `${name}~${change.number}`, triplet_id: triplet }),
    project: change.project.name,
    branch: state.branch,
    ...(state.topic === null ? {} : { topic: state.topic }),
    ...(world.version === '3.2' ? {} : { attention_set: {}, removed_from_attention_set: {} }),
    hashtags: state.hashtags,
    change_id: change.changeId,
  };
}

type ShowAccount = (account: FakeAccount) => Shape;

function people(
  change: FakeChange,
  state: ChangeState,
  { viewer }: ShapeRequest,
  account: ShowAccount,
): Shape {
  const all = [...state.reviewers.values()];
  const of = (kind: 'REVIEWER' | 'CC') =>
    all.filter(each => each.state === kind).map(each => account(each.account));
  const may = viewer !== null && (isAdministrator(viewer) || viewer === change.owner);
  const removable = all.filter(each => may || each.account === viewer).map(each => account(each.account));
  return {
    ...(viewer === null ? {} : { permitted_labels: permitted(change, state, viewer) }),
    removable_reviewers: removable,
    reviewers: {
      ...(of('REVIEWER').length === 0 ? {} : { REVIEWER: of('REVIEWER') }),
      ...(of('CC').length === 0 ? {} : { CC: of('CC') }),
    },
    pending_reviewers: {},
  };
}

/** Of a merged change: what is not less than the vote that is there. Of an abandoned one: nothing. */
function permitted(change: FakeChange, state: ChangeState, viewer: FakeAccount): Shape {
  if (state.status === 'ABANDONED') return {};
  const patchSet = currentPatchSet(state).number;
  const entries = change.project.labels.flatMap(({ name, values }) => {
    const range = labelRange(change.project, viewer, name);
    const given = state.votes.find(
      vote => vote.by === viewer && vote.label === name && vote.patchSet === patchSet,
    );
    const least = state.status === 'MERGED' ? (given?.value ?? 0) : Number.NEGATIVE_INFINITY;
    const scale = Object.keys(values)
      .map(Number)
      .toSorted((a, b) => a - b)
      .filter(value => range !== null && value >= range.min && value <= range.max && value >= least);
    return scale.length === 0 ? [] : [[name, scale.map(signed)] as const];
  });
  return Object.fromEntries(entries.toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

/** `+1`, `-1`, and ` 0`. */
export function signed(value: number): string {
  return value > 0 ? `+${value}` : value === 0 ? ' 0' : String(value);
}

function updates(state: ChangeState, account: ShowAccount): readonly Shape[] {
  return state.reviewerUpdates.map(each => ({
    updated: gerritTime(each.at),
    updated_by: account(each.by),
    reviewer: account(each.reviewer),
    state: each.state,
  }));
}

function messages(state: ChangeState, account: ShowAccount): readonly Shape[] {
  return state.messages.map(each => ({
    id: each.id,
    ...(each.tag === null ? {} : { tag: each.tag }),
    ...(each.author === null ? {} : { author: account(each.author), real_author: account(each.author) }),
    date: gerritTime(each.at),
    message: each.text,
    _revision_number: each.patchSet,
  }));
}

/** Gerrit 3.4 and later, after its REST documentation. */
function rules(
  world: GerritWorld,
  change: FakeChange,
  state: ChangeState,
  options: ReadonlySet<string>,
): Shape {
  const verdicts = labelVerdicts(change, state);
  const open = verdicts.some(each => each.status === 'NEED' || each.status === 'REJECT');
  const record = {
    rule_name: 'gerrit~DefaultSubmitRule',
    status: state.status === 'MERGED' ? 'CLOSED' : open ? 'NOT_READY' : 'OK',
    labels: verdicts.map(({ label, status, by }) => ({
      label,
      status,
      ...(by === null ? {} : { applied_by: { _account_id: by.id } }),
    })),
  };
  if (!options.has('SUBMIT_REQUIREMENTS')) return { submit_records: [record] };
  const requirements = requirementResults(world, change, state).map(
    ({ rule, isLegacy, status, fulfilled }) => {
      const result = (expression: string | undefined, holds: boolean | null) =>
        expression === undefined || holds === null
          ? undefined
          : { expression, fulfilled: holds, status: holds ? 'PASS' : 'FAIL' };
      return {
        name: rule.name,
        ...(rule.description === undefined ? {} : { description: rule.description }),
        status,
        is_legacy: isLegacy,
        applicability_expression_result: result(rule.applicableIf, fulfilled.applicability),
        submittability_expression_result: result(rule.submittableIf, fulfilled.submittability),
        override_expression_result: result(rule.overrideIf, fulfilled.override),
      };
    },
  );
  return { submit_records: [record], submit_requirements: requirements };
}
