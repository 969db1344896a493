/**
 * The parts that schemas of stored records are made of. A schema is a JSON Schema (what a reader checks) that carries the type it
 * describes (what the compiler checks): a field that the type has and the schema lacks, or the other way round, does not compile,
 * nor does a word of a union that the schema leaves out. So the two cannot drift apart.
 *
 *     interface Head { readonly uuid: Uuid; readonly tries: number; readonly text?: string; readonly end: 'good' | 'bad' }
 *     const headSchema = object<Head>({ uuid, tries: whole, text: optional(text), end: words<Head['end']>({ good: 1, bad: 1 }) });
 *
 * Fields that a schema does not name are allowed and kept: a later release may add optional ones without raising the version.
 */
import type { Nanoseconds } from '../../lib/clock.ts';
import type { SpanId, TraceId, Uuid } from '../../lib/ids.ts';
import type { ChangeKey } from '../change.ts';
import type { Json } from '../job.ts';
import type { CommitId, ProjectKey } from '../project.ts';

type JsonObject = { readonly [name: string]: unknown };

/** The JSON Schema of a value, in the few forms that records need. */
export interface SchemaNode {
  readonly type?: 'string' | 'number' | 'integer' | 'boolean' | 'null' | 'array' | 'object';
  /** What is wanted, for messages: `a time in nanoseconds`. */
  readonly description?: string;
  readonly pattern?: string;
  readonly minimum?: number;
  readonly minItems?: number;
  readonly enum?: readonly (string | number | boolean)[];
  readonly items?: SchemaNode;
  readonly properties?: { readonly [name: string]: SchemaNode };
  readonly required?: readonly string[];
  readonly additionalProperties?: SchemaNode;
  readonly anyOf?: readonly SchemaNode[];
  /** With `anyOf`: the property by which the cases differ. */
  readonly discriminator?: { readonly propertyName: string };
  /** The field may be lacking in records of older releases and has this value then, see {@link added}. */
  readonly added?: (owner: JsonObject) => unknown;
  /** Name of a node that contains itself, see {@link recursive}. */
  readonly $ref?: string;
}

declare const holds: unique symbol;

/** Describes values of exactly the type `T`: a function from and to it makes it invariant. */
export interface Schema<T> {
  readonly node: SchemaNode;
  readonly [holds]?: (value: T) => T;
}

/** A field that may be absent. */
interface OptionalSchema<T> {
  readonly optional: SchemaNode;
  readonly [holds]?: (value: T) => T;
}

/** One schema for every field of `T`, marked where the field may be absent. */
type Fields<T> = {
  readonly [Name in keyof T]-?: object extends Pick<T, Name>
    ? OptionalSchema<Exclude<T[Name], undefined>>
    : Schema<T[Name]>;
};

/** The member of the union `T` whose `Tag` may be `Word`. */
type Case<T, Tag extends keyof T, Word> = T extends unknown ? (Word extends T[Tag] ? T : never) : never;

type Field = { readonly node: SchemaNode } | { readonly optional: SchemaNode };
type NamedFields = readonly (readonly [name: string, field: Field])[];

/** An object with exactly the fields of `T`. */
export function object<T extends object>(fields: Fields<T>): Schema<T> {
  return { node: objectNode(Object.entries(fields)) };
}

/** A union of objects that differ by the word in one field: the fields of each, without that one. */
export function tagged<T extends object, Tag extends keyof T & string>(
  tag: Tag,
  cases: { readonly [Word in T[Tag] & string]: Fields<Omit<Case<T, Tag, Word>, Tag>> },
): Schema<T> {
  const named: readonly (readonly [word: string, fields: object])[] = Object.entries(cases);
  const anyOf = named.map(([word, fields]) =>
    objectNode([[tag, { node: { enum: [word] } }], ...(Object.entries(fields) satisfies NamedFields)]),
  );
  return { node: { anyOf, description: 'an object', discriminator: { propertyName: tag } } };
}

function objectNode(fields: NamedFields): SchemaNode {
  return {
    type: 'object',
    description: 'an object',
    required: fields.flatMap(([name, field]) =>
      'node' in field && field.node.added === undefined ? [name] : [],
    ),
    properties: Object.fromEntries(
      fields.map(([name, field]) => [name, 'node' in field ? field.node : field.optional]),
    ),
  };
}

/** A field whose absence means something today. */
export function optional<T>({ node }: Schema<T>): OptionalSchema<T> {
  return { optional: node };
}

/**
 * A field that came without a new version of its record: older releases did not write it, and {@link import('./fill-in.ts')}
 * adds it where it is lacking.
 *
 * @param valueFor the object without it, which has been checked.
 */
export function added<T>({ node }: Schema<T>, valueFor: (owner: JsonObject) => T): Schema<T> {
  return { node: { ...node, added: valueFor } };
}

/** Null, or what the schema describes. */
export function nullable<T>({ node }: Schema<T>): Schema<T | null> {
  return { node: { anyOf: [node, { type: 'null' }] } };
}

/** One of two forms that differ in JSON already. */
export function either<A, B>(a: Schema<A>, b: Schema<B>): Schema<A | B> {
  return { node: { anyOf: [a.node, b.node] } };
}

/** A list of any length. */
export function list<T>({ node }: Schema<T>): Schema<readonly T[]> {
  return { node: { type: 'array', description: 'a list', items: node } };
}

/** A list with at least one element. */
export function nonEmpty<T>({ node }: Schema<T>): Schema<readonly [T, ...T[]]> {
  return { node: { type: 'array', description: 'a list that is not empty', items: node, minItems: 1 } };
}

/** By names that are not known beforehand. */
export function byName<T>({ node }: Schema<T>): Schema<{ readonly [name: string]: T }> {
  return { node: { type: 'object', description: 'an object', additionalProperties: node } };
}

/** A closed set of words, each of which must be listed. A new one raises the record's version: older readers do not know it. */
export function words<Word extends string>(known: { readonly [word in Word]: 1 }): Schema<Word> {
  const listed = Object.keys(known);
  return { node: { enum: listed, description: `one of ${listed.join(', ')}` } };
}

const nodes = new Map<string, SchemaNode>();

/** Nodes that contain themselves, by the name in their `$ref`. */
export const RECURSIVE_NODES: ReadonlyMap<string, SchemaNode> = nodes;

/** Its fields are never filled in. @param name unlike that of any other recursive schema. */
export function recursive<T>(name: string, schemaOf: (self: Schema<T>) => Schema<T>): Schema<T> {
  const self = { node: { $ref: name } };
  nodes.set(name, schemaOf(self).node);
  return self;
}

const matching = <T extends string>(pattern: string, description: string): Schema<T> => ({
  node: { type: 'string', pattern, description },
});

/** Any text. */
export const text: Schema<string> = { node: { type: 'string', description: 'a text' } };
/** Any number. */
export const number: Schema<number> = { node: { type: 'number', description: 'a number' } };
/** A count: 0, 1, 2, … */
export const whole: Schema<number> = { node: { type: 'integer', minimum: 0, description: 'a count' } };
/** True or false. */
export const flag: Schema<boolean> = { node: { type: 'boolean', description: 'true or false' } };
/** A mark that is either there or not. */
export const mark: Schema<true> = { node: { enum: [true], description: 'true' } };
/** Anything: read by its owner alone. */
export const json: Schema<Json> = { node: {} };
/** Nanoseconds since the epoch, decimal. */
export const time = matching<Nanoseconds>('^[0-9]{1,20}$', 'a time in nanoseconds');
/** 32 lower-case hex digits. */
export const uuid = matching<Uuid>('^[0-9a-f]{32}$', 'a uuid');
/** 32 lower-case hex digits. */
export const traceId = matching<TraceId>('^[0-9a-f]{32}$', 'a trace id');
/** 16 lower-case hex digits. */
export const spanId = matching<SpanId>('^[0-9a-f]{16}$', 'a span id');
/** 40 or 64 lower-case hex digits. */
export const commit = matching<CommitId>('^[0-9a-f]{40}([0-9a-f]{24})?$', 'a commit id');
/** `<connection>/<project name>`. */
export const project = matching<ProjectKey>('^[^/]+/', 'a project (connection/name)');
/** Begins with the project's key. */
export const change = matching<ChangeKey>('^[^/]+/', 'the key of a change');
/** A short fact for people and spans. */
export const fact: Schema<string | number | boolean> = {
  node: { anyOf: [{ type: 'string' }, { type: 'number' }, { type: 'boolean' }], description: 'a short fact' },
};
