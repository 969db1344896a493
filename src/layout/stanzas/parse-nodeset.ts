import { mappingReader } from '../reading/mapping-reader.ts';
import type { ParseContext } from '../reading/parse-context.ts';
import type { YamlMapping } from '../yaml/yaml-node.ts';
import type { NodesetStanza } from './stanzas.ts';

/**
 * @returns undefined without a name; the stanza is then broken. Other mistakes are problems of `context`, and so in the other
 * parsers.
 */
export function parseNodeset(
  value: YamlMapping,
  offset: number,
  context: ParseContext,
): NodesetStanza | undefined {
  const read = mappingReader(value, 'nodeset', context);
  const name = read.required('name');
  const nodes = parseNodes(value, 'nodeset', context);
  read.list('nodes');
  read.unsupported(['groups', 'alternatives']);
  read.finish();
  return name === undefined ? undefined : { kind: 'nodeset', offset, name, nodes };
}

/** `nodes: [{name, label}]`; names are unique; a node without a name has its label as name. */
export function parseNodes(
  value: YamlMapping,
  subject: string,
  context: ParseContext,
): readonly { readonly name: string; readonly label: string }[] {
  const nodes = new Map<string, { readonly name: string; readonly label: string }>();
  for (const node of mappingReader(value, subject, context).list('nodes') ?? []) {
    if (node.kind !== 'mapping') {
      context.problem({
        offset: node.offset,
        code: 'wrong-type',
        text: `a node of ${subject} must be a mapping {name, label}`,
      });
      continue;
    }
    const read = mappingReader(node, `a node of ${subject}`, context);
    const label = read.required('label');
    const name = read.string('name') ?? label;
    read.finish();
    if (name === undefined || label === undefined) continue;
    if (nodes.has(name))
      context.problem({
        offset: node.offset,
        code: 'duplicate-name',
        text: `${subject} has two nodes "${name}"`,
      });
    nodes.set(name, { name, label });
  }
  return [...nodes.values()];
}
