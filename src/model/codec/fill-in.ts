/**
 * Fills in what older releases did not write: fields that came later without a new version (`added` in schema.ts). Only places that
 * may lack such a field are visited.
 *
 *     const fillIn = fillInOf(object<Visit>({ name: text, tries: added(whole, () => 1) }).node);
 *     fillIn?.({ name: 'a' })          // changes it to { name: 'a', tries: 1 }
 */
import type { SchemaNode } from './schema.ts';

/** Changes a value that was checked and is not shared. */
type FillIn = (value: unknown) => void;

/**
 * Undefined: nothing below the node may be lacking.
 *
 * @throws RangeError for a place that is not visited: below names that are not known beforehand. Recursive nodes may not lack
 *   anything either, see `recursive`.
 */
export function fillInOf(node: SchemaNode): FillIn | undefined {
  const { anyOf, items, properties, additionalProperties } = node;
  if (additionalProperties !== undefined && fillInOf(additionalProperties) !== undefined)
    throw new RangeError('fields below a name that is not known beforehand are not filled in');
  if (anyOf !== undefined) return fillInOfUnion(anyOf, node.discriminator?.propertyName);
  if (items !== undefined) return fillInOfList(items);
  return properties === undefined ? undefined : fillInOfObject(properties);
}

function fillInOfObject(properties: NonNullable<SchemaNode['properties']>): FillIn | undefined {
  const fields = Object.entries(properties).flatMap(([name, node]) => {
    const inner = fillInOf(node);
    return inner === undefined && node.added === undefined ? [] : [{ name, inner, added: node.added }];
  });
  if (fields.length === 0) return undefined;
  return value => {
    if (!isObject(value)) return;
    for (const { name, inner, added } of fields) {
      if (value[name] !== undefined) inner?.(value[name]);
      else if (added !== undefined) value[name] = added(value);
    }
  };
}

function fillInOfList(items: SchemaNode): FillIn | undefined {
  const inner = fillInOf(items);
  if (inner === undefined) return undefined;
  return value => {
    if (Array.isArray(value)) value.forEach(inner);
  };
}

function fillInOfUnion(anyOf: readonly SchemaNode[], tag: string | undefined): FillIn | undefined {
  const forms = anyOf.flatMap(form => {
    const fillIn = fillInOf(form);
    const words = tag === undefined ? undefined : (form.properties?.[tag]?.enum ?? []);
    return fillIn === undefined ? [] : [{ fillIn, words }];
  });
  if (forms.length === 0) return undefined;
  return value => {
    for (const { fillIn, words } of forms)
      if (words === undefined || (isObject(value) && words.some(word => word === value[tag ?? ''])))
        fillIn(value);
  };
}

function isObject(value: unknown): value is { [name: string]: unknown } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
