/** Second pass, before that of jobs: the nodesets that alternatives name. */
import { type FlatNodesets, flattenNodeset, type NodesetsByName } from '../freeze/flatten-nodeset.ts';
import { errorAt } from '../model/config-place.ts';
import type { Collected } from './collected.ts';
import { missingNameHint } from './missing-name.ts';

/** Reports each wrong name where it is written, and marks nodesets that need one as broken. Changes `collected`. */
export function checkNodesets(collected: Collected): void {
  const known = nodesetsIn(collected);
  const broken = [...collected.nodesets].flatMap(([name, { stanza, file }]) => {
    const flat = flattenNodeset(stanza, known, name);
    return flat.kind === 'nodesets' ? [] : [{ name, file, offset: stanza.offset, flat }];
  });
  for (const { name, file, offset, flat } of broken) {
    // A name that another nodeset gets wrong is reported there; a cycle is reported by each of its nodesets.
    if (!flat.direct && flat.kind === 'unknown') continue;
    const [code, text] = nodesetProblem(flat, `nodeset ${name}`, collected);
    collected.errors.push(errorAt(file, flat.direct ? flat.reference.offset : offset, code, text));
  }
  for (const { name } of broken) {
    collected.brokenNodesets.add(name);
    collected.nodesets.delete(name);
  }
}

/** To look them up by name. */
export function nodesetsIn({ nodesets }: Collected): NodesetsByName {
  return { get: name => nodesets.get(name)?.stanza };
}

/** Code and text. @param subject what uses the nodeset. */
export function nodesetProblem(
  { kind, reference: { name } }: Exclude<FlatNodesets, { readonly kind: 'nodesets' }>,
  subject: string,
  collected: Collected,
): readonly [code: string, text: string] {
  const { nodesets, brokenNodesets } = collected;
  if (kind === 'repeated')
    return [
      'nodeset-cycle',
      `the alternatives of ${subject} lead to nodeset ${name} a second time; remove it from one place`,
    ];
  const hint = brokenNodesets.has(name)
    ? ' because of the error in its definition'
    : missingNameHint(name, nodesets.keys(), collected);
  return ['unknown-nodeset', `nodeset ${name} of ${subject} is not defined${hint}`];
}
