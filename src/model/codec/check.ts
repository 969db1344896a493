/**
 * Checks values against the schemas of records. The check of a node is made when a value is first held against it, and kept: nodes that
 * several records share, or forms of a union that do not occur, cost nothing more. What is wrong is looked for only after it has failed.
 *
 *     const faultOf = checkOf(componentSchema.node);
 *     faultOf({ host: 7 })          // 'host is 7, not a text'
 */
import { accepts } from './accepts.ts';
import { RECURSIVE_NODES, type SchemaNode } from './schema.ts';

/** What is wrong with a value, with the field's path: `buildset.builds.0.uuid is missing`; undefined: nothing. */
export type FaultOf = (value: unknown) => string | undefined;

/** Of the values that are as the node says. */
export function checkOf(node: SchemaNode): FaultOf {
  return value => (accepts(node, value) ? undefined : faultIn(node, value, ''));
}

/** @param value one that the node does not accept. */
function faultIn(node: SchemaNode, value: unknown, path: string): string {
  const parts = partsOf(node, value);
  if (parts === undefined) return `${path || 'it'} is ${shortly(value)}, not ${node.description ?? 'that'}`;
  for (const [name, part, inner] of parts) {
    const at = name === '' ? path : path === '' ? name : `${path}.${name}`;
    if (inner === undefined) return `${at} is missing`;
    if (!accepts(part, inner)) return faultIn(part, inner, at);
  }
  return `${path || 'it'} is not ${node.description ?? 'as it should be'}`;
}

type Part = readonly [name: string, node: SchemaNode, value: unknown];

/** What a value consists of that must be right, and is there unless it may be absent; undefined: it has no parts. */
function partsOf(node: SchemaNode, value: unknown): readonly Part[] | undefined {
  const { $ref, anyOf, items, properties, additionalProperties } = node;
  const referred = $ref === undefined ? undefined : RECURSIVE_NODES.get($ref);
  if (referred !== undefined) return partsOf(referred, value);
  if (anyOf !== undefined) return partsOfUnion(node, anyOf, value);
  if (items !== undefined && Array.isArray(value))
    return value.map((element: unknown, index) => [String(index), items, element]);
  if (!isObject(value)) return undefined;
  if (additionalProperties !== undefined)
    return Object.entries(value).map(([name, inner]) => [name, additionalProperties, inner]);
  if (properties === undefined) return undefined;
  return Object.entries(properties).flatMap(([name, part]): readonly Part[] =>
    Object.hasOwn(value, name) || node.required?.includes(name) === true ? [[name, part, value[name]]] : [],
  );
}

function partsOfUnion(
  { discriminator, description }: SchemaNode,
  anyOf: readonly SchemaNode[],
  value: unknown,
): readonly Part[] | undefined {
  if (discriminator === undefined) {
    const forms = anyOf.filter(each => each.type !== 'null');
    const likely = forms.find(each => partsOf(each, value) !== undefined);
    const form = likely ?? (description === undefined ? forms[0] : undefined);
    return form === undefined ? undefined : [['', form, value]];
  }
  if (!isObject(value)) return undefined;
  const tag = discriminator.propertyName;
  const words = anyOf.flatMap(each => each.properties?.[tag]?.enum ?? []);
  const likely = anyOf.find(each => each.properties?.[tag]?.enum?.some(word => word === value[tag]));
  if (likely === undefined)
    return [[tag, { enum: words, description: `one of ${words.join(', ')}` }, value[tag]]];
  return partsOf(likely, value);
}

function isObject(value: unknown): value is { readonly [name: string]: unknown } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

const SHORT = 40;

function shortly(value: unknown): string {
  if (Array.isArray(value)) return 'a list';
  if (isObject(value)) return 'an object';
  const text = JSON.stringify(value) ?? 'nothing';
  return text.length > SHORT ? `${text.slice(0, SHORT)}…` : text;
}
