/** `nodeset:` stanzas, and the nodesets that jobs write within themselves. */
import { isInventoryName } from '../../model/inventory-name.ts';
import type { NodeGroup, NodeRequirement } from '../../model/job.ts';
import { type MappingReader, mappingReader } from '../reading/mapping-reader.ts';
import type { ParseContext } from '../reading/parse-context.ts';
import type { YamlMapping, YamlNode } from '../yaml/yaml-node.ts';
import type { NodesetContent, NodesetReference, NodesetStanza } from './stanzas.ts';

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
  const content = parseContent(read, 'nodeset', context);
  read.finish();
  return name === undefined ? undefined : { kind: 'nodeset', offset, name, ...content };
}

/** `nodeset: name`, `nodeset: {nodes: [...]}` or, for one node, `nodeset: {label: name}`. */
export function parseNodesetReference(
  read: MappingReader,
  subject: string,
  context: ParseContext,
): NodesetReference | undefined {
  const node = read.node('nodeset');
  if (node?.kind !== 'mapping') {
    const name = read.string('nodeset');
    return node === undefined || name === undefined
      ? undefined
      : { kind: 'named', name, offset: node.offset };
  }
  const inline = mappingReader(node, `nodeset of ${subject}`, context);
  inline.unsupported(['name'], 'an inline nodeset has no name; remove it');
  const label = inline.string('label');
  const content = parseContent(inline, `nodeset of ${subject}`, context);
  const other = ['nodes', 'groups', 'alternatives'].find(key => node.entries.has(key));
  if (label !== undefined && other !== undefined) {
    const text = `nodeset of ${subject} has both ${other} and label; keep one`;
    inline.refuse(inline.offsetOf('label'), 'wrong-type', text);
  }
  inline.finish();
  if (label !== undefined) checkHostName(label, node.offset, `a node of nodeset of ${subject}`, context);
  return { kind: 'inline', ...content, ...(label === undefined ? {} : { nodes: [{ name: label, label }] }) };
}

/** Either `nodes` and `groups`, or `alternatives`. */
function parseContent(read: MappingReader, subject: string, context: ParseContext): NodesetContent {
  const nodes = parseNodes(read, subject, context);
  const groups = parseGroups(read, nodes, subject, context);
  const alternatives = read.list('alternatives')?.flatMap(node => parseAlternative(node, subject, context));
  if (alternatives === undefined) return { nodes, groups, alternatives };
  const at = read.offsetOf('alternatives');
  if (alternatives.length === 0) {
    read.refuse(at, 'invalid-value', `alternatives of ${subject} is empty; name nodesets, or remove it`);
  } else if (nodes.length > 0 || groups.length > 0) {
    const text = `${subject} has alternatives besides nodes or groups; write those as one of the alternatives`;
    read.refuse(at, 'invalid-value', text);
  }
  return { nodes, groups, alternatives };
}

function parseAlternative(
  node: YamlNode,
  subject: string,
  context: ParseContext,
): readonly NodesetReference[] {
  if (node.kind === 'mapping') {
    const within = `an alternative of ${subject}`;
    const read = mappingReader(node, within, context);
    const nodes = parseNodes(read, within, context);
    const groups = parseGroups(read, nodes, within, context);
    read.finish();
    return [{ kind: 'inline', nodes, groups, alternatives: undefined }];
  }
  if (node.kind === 'scalar' && node.value !== null && node.text !== '')
    return [{ kind: 'named', name: node.text, offset: node.offset }];
  const text = `alternatives of ${subject} must be names of nodesets, or mappings with nodes`;
  context.problem({ offset: node.offset, code: 'wrong-type', text });
  return [];
}

/** `nodes: [{name, label}]`; names are unique; a node without a name has its label as name, one with a list of them has several. */
function parseNodes(read: MappingReader, subject: string, context: ParseContext): readonly NodeRequirement[] {
  const taken = new Set<string>();
  return (read.list('nodes') ?? []).flatMap((node): readonly NodeRequirement[] => {
    if (node.kind !== 'mapping') {
      const text = `a node of ${subject} must be a mapping {name, label}`;
      context.problem({ offset: node.offset, code: 'wrong-type', text });
      return [];
    }
    const one = mappingReader(node, `a node of ${subject}`, context);
    const label = one.required('label');
    const [name = label, ...aliases] = one.names('name')?.map(placed => placed.name) ?? [];
    one.finish();
    if (name === undefined || label === undefined) return [];
    for (const each of [name, ...aliases]) {
      if (taken.has(each)) {
        const text = `${subject} has two nodes "${each}"`;
        context.problem({ offset: node.offset, code: 'duplicate-name', text });
      }
      taken.add(each);
      checkHostName(each, node.offset, `a node of ${subject}`, context);
    }
    return [{ name, label, ...(aliases.length === 0 ? {} : { aliases }) }];
  });
}

/** `groups: [{name, nodes}]` of nodes that the nodeset has; names are unique. */
function parseGroups(
  read: MappingReader,
  nodes: readonly NodeRequirement[],
  subject: string,
  context: ParseContext,
): readonly NodeGroup[] {
  const known = new Set(nodes.flatMap(({ name, aliases = [] }) => [name, ...aliases]));
  const taken = new Set<string>();
  return (read.list('groups') ?? []).flatMap((node): readonly NodeGroup[] => {
    if (node.kind !== 'mapping') {
      const text = `a group of ${subject} must be a mapping {name, nodes}`;
      context.problem({ offset: node.offset, code: 'wrong-type', text });
      return [];
    }
    const one = mappingReader(node, `a group of ${subject}`, context);
    const name = one.required('name');
    if (!node.entries.has('nodes')) one.required('nodes');
    const members = one.names('nodes') ?? [];
    one.finish();
    if (name === undefined) return [];
    if (taken.has(name)) {
      const text = `${subject} has two groups "${name}"`;
      context.problem({ offset: node.offset, code: 'duplicate-name', text });
    }
    taken.add(name);
    checkHostName(name, node.offset, `a group of ${subject}`, context);
    for (const member of members) {
      if (known.has(member.name)) continue;
      const text = `group ${name} of ${subject} names node ${member.name}, which the nodeset does not have`;
      context.problem({ offset: member.offset, code: 'unknown-node', text });
    }
    return [{ name, nodes: [...new Set(members.map(member => member.name))] }];
  });
}

/** Hosts and groups of an inventory; Ansible has a meaning of its own for some names and characters. */
function checkHostName(name: string, offset: number, subject: string, context: ParseContext): void {
  const refuse = (text: string) => context.problem({ offset, code: 'invalid-name', text });
  if (RESERVED_HOSTS.has(name)) {
    refuse(`${subject} is called "${name}", which every inventory has; choose another name`);
  } else if (!isInventoryName(name)) {
    refuse(
      `${subject} is called ${JSON.stringify(name.slice(0, 60))}, which cannot be a name in an inventory; use letters, digits, "-", "_" and "."`,
    );
  }
}

const RESERVED_HOSTS = new Set(['localhost', 'all', 'ungrouped']);
