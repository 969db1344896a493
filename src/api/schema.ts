/**
 * Builders of the documents' JSON schemas. A document is described once; its type, the OpenAPI description and the contract test
 * are derived from that schema. The optional `description` of each builder goes into the OpenAPI description.
 *
 *     export const waitSchema = document({ project: text('Without its connection'), since: milliseconds() });
 *     export type Wait = Document<typeof waitSchema>;
 */
import Type, { type Static, type TProperties, type TSchema } from 'typebox';
import type { Json } from '../model/job.ts';

export type { TSchema as Schema } from 'typebox';

/** The readonly type of the documents that a schema describes. */
export type Document<Description extends TSchema> = Frozen<Static<Description>>;

type Frozen<Value> = Value extends readonly (infer Element)[]
  ? readonly Frozen<Element>[]
  : Value extends object
    ? { readonly [Name in keyof Value]: Frozen<Value[Name]> }
    : Value;

/** An object with exactly these members. */
export const document = <Properties extends TProperties>(properties: Properties, description?: string) =>
  Type.Object(properties, described(description));
/** An array. */
export const list = <Element extends TSchema>(element: Element, description?: string) =>
  Type.Array(element, described(description));
/** An object with arbitrary names and values of one schema. */
export const byName = <Value extends TSchema>(value: Value, description?: string) =>
  Type.Record(Type.String(), value, described(description));
/** A value or null. */
export const nullable = <Value extends TSchema>(value: Value, description?: string) =>
  Type.Union([value, Type.Null()], described(description));
/** A member that may be absent. */
export const optional = <Value extends TSchema>(value: Value) => Type.Optional(value);
/** A string. */
export const text = (description?: string) => Type.String(described(description));
/** A boolean. */
export const flag = (description?: string) => Type.Boolean(described(description));
/** Any number. */
export const number = (description?: string) => Type.Number(described(description));
/** An integer from 0. */
export const whole = (description?: string) => Type.Integer({ minimum: 0, ...described(description) });
/** One of a closed set of words. */
export const oneOf = <const Word extends string>(words: readonly Word[], description?: string) =>
  Type.Unsafe<Word>({ type: 'string', enum: [...words], ...described(description) });
/** Any JSON value. */
export const json = (description?: string) => Type.Unsafe<Json>({ ...described(description) });
/** 32 hexadecimal digits. */
export const uuid = (description?: string) =>
  Type.String({ pattern: '^[0-9a-f]{32}$', ...described(description) });
/** Milliseconds since the epoch, possibly with a fraction. */
export const milliseconds = (description?: string) =>
  Type.Number({ minimum: 0, ...described(description ?? 'Milliseconds since the epoch') });
/** Nanoseconds as decimal text, because they exceed JavaScript's numbers. */
export const nanoseconds = (description?: string) =>
  Type.String({ pattern: '^\\d+$', ...described(description ?? 'Nanoseconds') });
/** An object with the members of both schemas. */
export const together = <A extends TProperties, B extends TProperties>(
  a: { readonly properties: A },
  b: { readonly properties: B },
) => Type.Object({ ...a.properties, ...b.properties });

function described(description: string | undefined): { description?: string } {
  return description === undefined ? {} : { description };
}
