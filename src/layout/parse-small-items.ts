import type { ItemContext } from './item-context.ts';
import { itemReader } from './item-reader.ts';
import type { NodesetItem, QueueItemConfig } from './items.ts';
import type { YamlMapping } from './yaml-node.ts';

export function parseQueue(
  value: YamlMapping,
  offset: number,
  context: ItemContext,
): QueueItemConfig | undefined {
  const read = itemReader(value, 'queue', context);
  const name = read.required('name');
  const perBranch = read.boolean('per-branch') ?? false;
  read.unsupported(['allow-circular-dependencies', 'dependencies-by-topic']);
  read.finish();
  return name === undefined ? undefined : { kind: 'queue', offset, name, perBranch };
}

export function parseNodeset(
  value: YamlMapping,
  offset: number,
  context: ItemContext,
): NodesetItem | undefined {
  const read = itemReader(value, 'nodeset', context);
  const name = read.required('name');
  const nodes = parseNodes(value, 'nodeset', context);
  read.list('nodes');
  read.unsupported(['groups', 'alternatives']);
  read.finish();
  return name === undefined ? undefined : { kind: 'nodeset', offset, name, nodes };
}

/** `nodes: [{name, label}]`; names are unique, a node without a name is called as its label. */
export function parseNodes(
  value: YamlMapping,
  subject: string,
  context: ItemContext,
): readonly { readonly name: string; readonly label: string }[] {
  const nodes = new Map<string, { readonly name: string; readonly label: string }>();
  for (const node of itemReader(value, subject, context).list('nodes') ?? []) {
    if (node.kind !== 'mapping') {
      context.problem({
        offset: node.offset,
        code: 'wrong-type',
        text: `a node of ${subject} must be a mapping {name, label}`,
      });
      continue;
    }
    const read = itemReader(node, `a node of ${subject}`, context);
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
