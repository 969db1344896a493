/**
 * The parts that descriptions of documents are made of. A document is described once, as a JSON Schema; its type, the
 * OpenAPI description and the contract test all follow from that.
 *
 *     export const waitSchema = document({ project: text('Without its connection'), since: milliseconds() });
 *     export type Wait = Document<typeof waitSchema>;
 */
import Type, { type Static, type TProperties, type TSchema } from 'typebox';
import type { Json } from '../model/job.ts';

export type { TSchema as Schema } from 'typebox';

/** What a description describes; encoders return it, readers take it. */
export type Document<Description extends TSchema> = Frozen<Static<Description>>;

type Frozen<Value> = Value extends readonly (infer Element)[]
  ? readonly Frozen<Element>[]
  : Value extends object
    ? { readonly [Name in keyof Value]: Frozen<Value[Name]> }
    : Value;

export const document = <Properties extends TProperties>(properties: Properties, description?: string) =>
  Type.Object(properties, described(description));
export const list = <Element extends TSchema>(element: Element, description?: string) =>
  Type.Array(element, described(description));
/** By names that are not known beforehand. */
export const byName = <Value extends TSchema>(value: Value, description?: string) =>
  Type.Record(Type.String(), value, described(description));
export const nullable = <Value extends TSchema>(value: Value, description?: string) =>
  Type.Union([value, Type.Null()], described(description));
export const optional = <Value extends TSchema>(value: Value) => Type.Optional(value);
export const text = (description?: string) => Type.String(described(description));
export const flag = (description?: string) => Type.Boolean(described(description));
export const number = (description?: string) => Type.Number(described(description));
export const whole = (description?: string) => Type.Integer({ minimum: 0, ...described(description) });
/** One of a closed set of words. */
export const oneOf = <const Word extends string>(words: readonly Word[], description?: string) =>
  Type.Unsafe<Word>({ type: 'string', enum: [...words], ...described(description) });
export const json = (description?: string) => Type.Unsafe<Json>({ ...described(description) });
export const uuid = (description?: string) =>
  Type.String({ pattern: '^[0-9a-f]{32}$', ...described(description) });
/** Milliseconds since the epoch; may have a fraction. */
export const milliseconds = (description?: string) =>
  Type.Number({ minimum: 0, ...described(description ?? 'Milliseconds since the epoch') });
/** Decimal text, since the numbers do not fit JavaScript's. */
export const nanoseconds = (description?: string) =>
  Type.String({ pattern: '^\\d+$', ...described(description ?? 'Nanoseconds') });
/** Several descriptions together make one document. */
export const together = <A extends TProperties, B extends TProperties>(
  a: { readonly properties: A },
  b: { readonly properties: B },
) => Type.Object({ ...a.properties, ...b.properties });

function described(description: string | undefined): { description?: string } {
  return description === undefined ? {} : { description };
}
