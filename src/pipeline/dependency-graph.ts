/**
 * What a change needs before it can merge: git parents and `Depends-On`, transitively, as the change cache knows them.
 *
 * A walk ends at merged changes: their dependencies are in the branch already. A cycle is found with Tarjan's algorithm and
 * refused (allow-circular-dependencies is not supported yet).
 *
 *     C needs B, B needs A, A needs M (merged)   →   { kind: 'resolved', ahead: [A, B] }
 */
import { stronglyConnected } from '../lib/tarjan.ts';
import { type ChangeKey, changeKeyText, changeText } from '../model/change.ts';
import type { ChangeFacts } from './turn.ts';
import type { TurnDraft } from './turn-draft.ts';

/** Every kind but `resolved` is a refusal, which enqueue-plan.ts words. */
export type DependencyGraph =
  /** Open dependencies, oldest first: each after everything it needs. */
  | { readonly kind: 'resolved'; readonly ahead: readonly ChangeFacts[] }
  | { readonly kind: 'too-many'; readonly limit: number }
  | { readonly kind: 'cycle'; readonly changes: readonly string[] }
  /** Names without a known change. */
  | { readonly kind: 'unresolved'; readonly names: readonly string[] };

/** @param root the change that is to enter; it is not among the `ahead`. */
export function dependencyGraph(draft: TurnDraft, root: ChangeFacts): DependencyGraph {
  const limit = draft.input.maxDependencies ?? Number.POSITIVE_INFINITY;
  const edges = new Map<ChangeKey, readonly ChangeKey[]>();
  const unresolved = new Set<string>();
  const waiting: ChangeFacts[] = [root];
  for (let facts = waiting.pop(); facts !== undefined; facts = waiting.pop()) {
    const { key } = facts.record.change;
    if (edges.has(key)) continue;
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
  const cycle = components.find(component => component.length > 1);
  if (cycle !== undefined) return { kind: 'cycle', changes: cycle.map(key => nameOf(draft, key)) };
  return {
    kind: 'resolved',
    ahead: components.slice(0, -1).flatMap(component => component.flatMap(key => draft.facts(key) ?? [])),
  };
}

/** Direct dependencies that have not merged; a change that names itself does not depend on itself. */
export function openDependencies(
  draft: TurnDraft,
  facts: ChangeFacts,
  unresolved?: Set<string>,
): readonly ChangeFacts[] {
  const open: ChangeFacts[] = [];
  for (const key of facts.record.dependsOn) {
    if (key === facts.record.change.key || draft.landedChanges.has(key)) continue;
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

function nameOf(draft: TurnDraft, key: ChangeKey): string {
  const facts = draft.facts(key);
  return facts === undefined ? changeKeyText(key) : changeText(facts.record.change);
}
