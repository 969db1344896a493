/**
 * Whether a value is as the schema of a record says. For each node a function is made when a value is first held against it, and kept:
 * records share many nodes. Generated code would be a little faster, but takes a hundred times as long to make, in every process.
 *
 *     accepts({ type: 'integer', minimum: 0 }, 3)          // true
 */
import { assertNever } from '../../lib/assert-never.ts';
import { RECURSIVE_NODES, type SchemaNode } from './schema.ts';

type Test = (value: unknown) => boolean;

/** Nodes never change, so neither does what was made of one. */
const made = new WeakMap<SchemaNode, Test>();

/** @throws RangeError for a reference to a recursive schema that there is not. */
export function accepts(node: SchemaNode, value: unknown): boolean {
  return testOf(node)(value);
}

function testOf(node: SchemaNode): Test {
  const known = made.get(node);
  if (known !== undefined) return known;
  const test = testFor(node);
  made.set(node, test);
  return test;
}

function testFor(node: SchemaNode): Test {
  const { $ref, anyOf, enum: words } = node;
  if ($ref !== undefined) return value => accepts(recursiveNode($ref), value);
  if (anyOf !== undefined) return unionTest(anyOf, node.discriminator?.propertyName);
  if (words !== undefined) return wordTest(words);
  switch (node.type) {
    case undefined:
      return () => true;
    case 'string':
      return textTest(node.pattern);
    case 'number':
      return Number.isFinite;
    case 'integer':
      return wholeTest(node.minimum ?? Number.NEGATIVE_INFINITY);
    case 'boolean':
      return value => typeof value === 'boolean';
    case 'null':
      return value => value === null;
    case 'array':
      return listTest(node.items ?? {}, node.minItems ?? 0);
    case 'object':
      return node.additionalProperties === undefined
        ? objectTest(node.properties ?? {}, node.required ?? [])
        : namedTest(node.additionalProperties);
    default:
      return assertNever(node.type);
  }
}

/** Looked up with each value: the node contains itself, so that its function cannot be made before itself. */
function recursiveNode(name: string): SchemaNode {
  const node = RECURSIVE_NODES.get(name);
  if (node === undefined) throw new RangeError(`there is no recursive schema ${name}`);
  return node;
}

function wordTest(words: readonly unknown[]): Test {
  if (words.length === 1) return value => value === words[0];
  const known = new Set(words);
  return value => known.has(value);
}

function textTest(pattern: string | undefined): Test {
  if (pattern === undefined) return value => typeof value === 'string';
  const wanted = new RegExp(pattern, 'u');
  return value => typeof value === 'string' && wanted.test(value);
}

function wholeTest(minimum: number): Test {
  return value => typeof value === 'number' && Number.isInteger(value) && value >= minimum;
}

function listTest(items: SchemaNode, least: number): Test {
  const test = testOf(items);
  return value => {
    if (!Array.isArray(value) || value.length < least) return false;
    for (const element of value) if (!test(element)) return false;
    return true;
  };
}

function namedTest(each: SchemaNode): Test {
  const test = testOf(each);
  return value => isObject(value) && Object.values(value).every(test);
}

function objectTest(properties: NonNullable<SchemaNode['properties']>, required: readonly string[]): Test {
  const fields = Object.entries(properties).map(([name, node]) => ({
    name,
    test: testOf(node),
    required: required.includes(name),
  }));
  return value => {
    if (!isObject(value)) return false;
    for (const { name, test, required } of fields) {
      const part = value[name];
      if (part === undefined ? required : !test(part)) return false;
    }
    return true;
  };
}

function unionTest(forms: readonly SchemaNode[], tag: string | undefined): Test {
  if (tag !== undefined) return taggedTest(forms, tag);
  const tests = forms.map(testOf);
  return value => {
    for (const test of tests) if (test(value)) return true;
    return false;
  };
}

/** Of a union of objects, the one that the word in the field stands for. */
function taggedTest(forms: readonly SchemaNode[], tag: string): Test {
  const tests = new Map<unknown, Test>();
  for (const form of forms)
    for (const word of form.properties?.[tag]?.enum ?? []) tests.set(word, testOf(form));
  return value => isObject(value) && tests.get(value[tag])?.(value) === true;
}

function isObject(value: unknown): value is { readonly [name: string]: unknown } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
