/**
 * What a change needs before it can merge: git parents, `Depends-On` and, where that counts, the other changes of its topic;
 * transitively, as the change cache knows them.
 *
 * A walk ends at merged changes: their dependencies are in the branch already. Changes that depend on each other are found with
 * Tarjan's algorithm, and are one group where their queue allows it (`allow-circular-dependencies`).
 *
 *     C needs B, B needs A, A needs M (merged)   →   { kind: 'resolved', own: [C], ahead: [[A], [B]] }
 *     C needs B, B needs A, A needs B            →   { kind: 'resolved', own: [C], ahead: [[A, B]] }
 */
import { stronglyConnected } from '../lib/tarjan.ts';
import { type ChangeKey, changeKeyText, changeText } from '../model/change.ts';
import { type ChangeGroup, changeGroup, isMember } from './change-group.ts';
import { neededBy } from './needed-by.ts';
import type { ChangeFacts } from './turn.ts';
import type { TurnDraft } from './turn-draft.ts';

/** Every kind but `resolved` is a refusal, which enqueue-plan.ts words. */
export type DependencyGraph =
  /** `own`: the change with those that depend on it and it on them. `ahead`: open dependencies, oldest first: each after all it needs. */
  | { readonly kind: 'resolved'; readonly own: ChangeGroup; readonly ahead: readonly ChangeGroup[] }
  | { readonly kind: 'too-many'; readonly limit: number }
  | { readonly kind: 'cycle'; readonly changes: readonly string[]; readonly obstacle: CycleObstacle }
  | { readonly kind: 'topic-too-large'; readonly topic: string }
  /** Names without a known change. */
  | { readonly kind: 'unresolved'; readonly names: readonly string[] };

/** Why changes that depend on each other are no item of their pipeline; the queues by name. */
export type CycleObstacle =
  /** Some queue does not set `allow-circular-dependencies`. */
  | { readonly kind: 'not-allowed' }
  /** These are of projects that the tenant does not have. */
  | { readonly kind: 'not-in-tenant'; readonly changes: readonly string[] }
  /** They merge, and are not in one queue. */
  | { readonly kind: 'several-queues'; readonly queues: readonly string[] };

/** @param root the change that is to enter; it is not among the `ahead`. */
export function dependencyGraph(draft: TurnDraft, root: ChangeFacts): DependencyGraph {
  const limit = draft.input.maxDependencies ?? Number.POSITIVE_INFINITY;
  const edges = new Map<ChangeKey, readonly ChangeKey[]>();
  const unresolved = new Set<string>();
  const waiting: ChangeFacts[] = [root];
  for (let facts = waiting.pop(); facts !== undefined; facts = waiting.pop()) {
    const { key } = facts.record.change;
    if (edges.has(key)) continue;
    if (facts.topic?.changes === null) return { kind: 'topic-too-large', topic: facts.topic.name };
    const needs = openDependencies(draft, facts, unresolved);
    edges.set(
      key,
      needs.map(need => need.record.change.key),
    );
    if (edges.size - 1 > limit) return { kind: 'too-many', limit };
    waiting.push(...needs);
  }
  if (unresolved.size > 0) return { kind: 'unresolved', names: [...unresolved] };
  const components = stronglyConnected([root.record.change.key], key => edges.get(key) ?? []);
  const groups = components.map(component => changeGroup(component.flatMap(key => draft.facts(key) ?? [])));
  for (const group of groups) {
    const obstacle = cycleObstacle(draft, group);
    if (obstacle === null) continue;
    return { kind: 'cycle', changes: group.map(({ record }) => changeText(record.change)), obstacle };
  }
  // Everything was reached from the root, so its group is the last.
  return { kind: 'resolved', own: groups.at(-1) ?? [root], ahead: groups.slice(0, -1) };
}

/** Null: they may be one item, for the queues of all of them allow it; where they merge, that is one queue. */
export function cycleObstacle(draft: TurnDraft, group: ChangeGroup): CycleObstacle | null {
  if (group.length === 1) return null;
  const outside = group.filter(({ queue }) => queue === null);
  if (outside.length > 0)
    return { kind: 'not-in-tenant', changes: outside.map(({ record }) => changeText(record.change)) };
  if (group.some(({ queue }) => queue?.allowsCycles !== true)) return { kind: 'not-allowed' };
  const queues = new Map(group.flatMap(({ queue }) => (queue === null ? [] : [[queue.key, queue.name]])));
  return draft.manager.needsOrder && queues.size > 1
    ? { kind: 'several-queues', queues: [...queues.values()] }
    : null;
}

/** A clause, e.g. `share no queue that allows it (allow-circular-dependencies)`. */
export function obstacleText(obstacle: CycleObstacle): string {
  switch (obstacle.kind) {
    case 'not-allowed':
      return 'share no queue that allows it (allow-circular-dependencies)';
    case 'not-in-tenant':
      return `cannot land together, for this tenant does not have the project of ${obstacle.changes.join(' and of ')}`;
    case 'several-queues':
      return `share no queue: they are in ${obstacle.queues.join(' and in ')}`;
  }
}

/** Direct dependencies of the members that have not merged and are no members. */
export function openDependenciesOf(draft: TurnDraft, group: ChangeGroup): readonly ChangeFacts[] {
  const needed = group.flatMap(facts => openDependencies(draft, facts));
  return [...new Set(needed)].filter(({ record }) => !isMember(group, record.change.key));
}

/** Direct dependencies that have not merged. */
export function openDependencies(
  draft: TurnDraft,
  facts: ChangeFacts,
  unresolved?: Set<string>,
): readonly ChangeFacts[] {
  const open: ChangeFacts[] = [];
  for (const key of neededBy(facts)) {
    if (draft.landedChanges.has(key)) continue;
    const needed = draft.facts(key);
    if (needed === undefined) unresolved?.add(changeKeyText(key));
    else if (needed.record.status !== 'merged') open.push(needed);
  }
  for (const line of facts.record.unresolvedDependencies) unresolved?.add(line);
  return open;
}

/** One clause about `Depends-On` lines that name no known change. */
export function unknownText(names: readonly string[]): string {
  return `unknown dependencies: ${names.join(', ')}`;
}
