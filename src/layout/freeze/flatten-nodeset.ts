/**
 * The nodesets that a job may run on, in the order in which they are tried. An alternative may name a nodeset that has alternatives
 * itself: those take its place.
 *
 *     fast-or-slow: [fast, slow];  any: [fast-or-slow, {nodes: [...]}]     →    any is fast, slow, {nodes: [...]}
 */
import type { FrozenJob, FrozenNodeset } from '../../model/job.ts';
import type { NodesetContent, NodesetReference } from '../stanzas/stanzas.ts';

/** Nodesets of a layout. */
export interface NodesetsByName {
  get(name: string): NodesetContent | undefined;
}

/** `unknown` and `repeated` name the reference that cannot be followed; `direct`: it is written in the nodeset itself, not in one that it names. */
export type FlatNodesets =
  | { readonly kind: 'nodesets'; readonly nodesets: readonly FrozenNodeset[] }
  | {
      readonly kind: 'unknown' | 'repeated';
      readonly reference: Extract<NodesetReference, { readonly kind: 'named' }>;
      readonly direct: boolean;
    };

/** @param own the name of the nodeset that is flattened, where it has one. */
export function flattenNodeset(
  reference: NodesetReference | NodesetContent,
  nodesets: NodesetsByName,
  own?: string,
): FlatNodesets {
  const found: FrozenNodeset[] = [];
  const seen = new Set(own === undefined ? [] : [own]);

  function follow(
    next: NodesetReference | NodesetContent,
    name: string | undefined,
    depth: number,
  ): Extract<FlatNodesets, { kind: 'unknown' | 'repeated' }> | undefined {
    if ('kind' in next && next.kind === 'named') {
      const content = nodesets.get(next.name);
      const failed = (kind: 'unknown' | 'repeated') => ({ kind, reference: next, direct: depth <= 1 });
      if (content === undefined) return failed('unknown');
      if (seen.has(next.name)) return failed('repeated');
      seen.add(next.name);
      return follow(content, next.name, depth + 1);
    }
    if (next.alternatives === undefined) {
      found.push(frozen(next, name));
      return undefined;
    }
    for (const alternative of next.alternatives) {
      const problem = follow(alternative, undefined, depth + 1);
      if (problem !== undefined) return problem;
    }
    return undefined;
  }

  return follow(reference, own, 0) ?? { kind: 'nodesets', nodesets: found };
}

function frozen({ nodes, groups }: NodesetContent, name: string | undefined): FrozenNodeset {
  return {
    ...(name === undefined ? {} : { nodesetName: name }),
    nodes,
    ...(groups.length === 0 ? {} : { groups }),
  };
}

/** Labels of the nodes written in it, those of its alternatives included. */
export function labelsOf({ nodes, alternatives = [] }: NodesetContent): readonly string[] {
  return [
    ...nodes.map(({ label }) => label),
    ...alternatives.flatMap(each => (each.kind === 'inline' ? labelsOf(each) : [])),
  ];
}

/** All that is written in it, to compare; undefined: nothing is. */
export function nodesetText(content: NodesetContent | undefined): string | undefined {
  if (content === undefined) return undefined;
  const { nodes, groups, alternatives } = content;
  const others = alternatives?.map(each => (each.kind === 'named' ? each.name : nodesetText(each)));
  return JSON.stringify([nodes, groups, others]);
}

/** The first nodeset that the job may run on, with the others as its alternatives. Names without a nodeset broke the job before. */
export function frozenNodeset(
  reference: NodesetReference | undefined,
  nodesets: NodesetsByName,
): Pick<FrozenJob, keyof FrozenNodeset | 'alternatives'> {
  const flat = reference === undefined ? undefined : flattenNodeset(reference, nodesets);
  const [first = { nodes: [] }, ...alternatives] = flat?.kind === 'nodesets' ? flat.nodesets : [];
  return { ...first, ...(alternatives.length === 0 ? {} : { alternatives }) };
}
