/** Whether a change may be submitted: what its labels' functions and, from Gerrit 3.5, its submit requirements say. */
import { matchesExpression } from './expression.ts';
import {
  type ChangeState,
  type FakeAccount,
  type FakeChange,
  type GerritWorld,
  type LabelType,
  type RequirementRule,
  votesOn,
} from './world.ts';

export interface LabelVerdict {
  readonly label: string;
  readonly status: 'OK' | 'NEED' | 'MAY' | 'REJECT';
  readonly by: FakeAccount | null;
}

export function lowest({ values }: LabelType): number {
  return Math.min(...Object.keys(values).map(Number));
}

export function highest({ values }: LabelType): number {
  return Math.max(...Object.keys(values).map(Number));
}

export function blocks(type: LabelType): boolean {
  return type.function === 'MaxWithBlock' || type.function === 'AnyWithBlock';
}

/** By label, in alphabetical order, as Gerrit names them. */
export function labelVerdicts(change: FakeChange, state: ChangeState = change.now): readonly LabelVerdict[] {
  return change.project.labels
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
    .map(type => verdictOf(type, state));
}

function verdictOf(type: LabelType, state: ChangeState): LabelVerdict {
  const label = type.name;
  const votes = votesOn(state).filter(vote => vote.label === label);
  const against = votes.find(vote => vote.value === lowest(type) && vote.value < 0);
  if (against !== undefined && blocks(type)) return { label, status: 'REJECT', by: against.by };
  const needed = type.function === 'MaxWithBlock' || type.function === 'MaxNoBlock';
  const full = votes.find(vote => vote.value === highest(type));
  if (!needed) return { label, status: 'MAY', by: full?.by ?? votes[0]?.by ?? null };
  return full === undefined ? { label, status: 'NEED', by: null } : { label, status: 'OK', by: full.by };
}

export interface RequirementResult {
  readonly rule: RequirementRule;
  /** A label's function, not a rule of its own. */
  readonly isLegacy: boolean;
  readonly status: 'SATISFIED' | 'UNSATISFIED' | 'OVERRIDDEN' | 'NOT_APPLICABLE' | 'ERROR';
  readonly fulfilled: {
    readonly applicability: boolean | null;
    readonly submittability: boolean | null;
    readonly override: boolean | null;
  };
}

/** None in Gerrit 3.2. */
export function requirementResults(
  world: GerritWorld,
  change: FakeChange,
  state: ChangeState = change.now,
): readonly RequirementResult[] {
  if (world.version === '3.2') return [];
  const { labels, requirements } = change.project;
  const legacy = labels
    .filter(
      type =>
        type.function === 'MaxWithBlock' ||
        type.function === 'AnyWithBlock' ||
        type.function === 'MaxNoBlock',
    )
    .filter(type => !requirements.some(each => each.name === type.name))
    .map(type =>
      resultOf(world, change, state, { name: type.name, submittableIf: legacyExpression(type) }, true),
    );
  const own = requirements.map(rule => resultOf(world, change, state, rule, false));
  return [...own, ...legacy].toSorted((a, b) => (a.rule.name < b.rule.name ? -1 : 1));
}

function legacyExpression({ name, function: kind }: LabelType): string {
  if (kind === 'MaxNoBlock') return `label:${name}=MAX`;
  return kind === 'AnyWithBlock' ? `-label:${name}=MIN` : `label:${name}=MAX -label:${name}=MIN`;
}

function resultOf(
  world: GerritWorld,
  change: FakeChange,
  state: ChangeState,
  rule: RequirementRule,
  isLegacy: boolean,
): RequirementResult {
  const holds = (expression: string | undefined) =>
    expression === undefined ? null : matchesExpression(world, change, state, expression);
  const fulfilled = {
    applicability: holds(rule.applicableIf),
    submittability: holds(rule.submittableIf),
    override: holds(rule.overrideIf),
  };
  const status =
    fulfilled.applicability === false
      ? 'NOT_APPLICABLE'
      : fulfilled.override === true
        ? 'OVERRIDDEN'
        : fulfilled.submittability === true
          ? 'SATISFIED'
          : 'UNSATISFIED';
  return { rule, isLegacy, status, fulfilled };
}

/** Gerrit's sentence for what is missing, without the change's number; undefined: nothing is. */
export function missingToSubmit(world: GerritWorld, change: FakeChange): string | undefined {
  if (change.now.wip)
    return `Change ${change.number} is ${world.version === '3.2' ? '' : 'marked '}work in progress`;
  if (world.version !== '3.2') {
    const open = requirementResults(world, change).find(each => each.status === 'UNSATISFIED');
    return open === undefined ? undefined : `submit requirement '${open.rule.name}' is unsatisfied.`;
  }
  const problems = labelVerdicts(change).flatMap(({ label, status }) =>
    status === 'NEED' ? [`needs ${label}`] : status === 'REJECT' ? [`blocked by ${label}`] : [],
  );
  return problems.length === 0 ? undefined : problems.join('; ');
}

/** `submittable` of ChangeInfo, which does not look at work in progress. */
export function isSubmittable(world: GerritWorld, change: FakeChange, state: ChangeState): boolean {
  if (state.status !== 'NEW') return false;
  if (world.version !== '3.2')
    return requirementResults(world, change, state).every(each => each.status !== 'UNSATISFIED');
  return labelVerdicts(change, state).every(({ status }) => status === 'OK' || status === 'MAY');
}
