/** Reading parts of Gerrit's JSON, of any form and size: what is not as expected is absent, and what is longer is cut. Pure. */
import { isMapping } from '../../../src/driver/read-mapping.ts';
import type { Json } from '../../../src/model/job.ts';

/** A JSON object. */
export type JsonMapping = { readonly [name: string]: Json };

/** @param longest in characters; the rest is cut. @returns null: not a text. */
export function textOf(json: Json | undefined, longest: number): string | null {
  return typeof json === 'string' ? json.slice(0, longest).toWellFormed() : null;
}

/** @returns null: not a whole number. */
export function wholeOf(json: Json | undefined): number | null {
  return typeof json === 'number' && Number.isSafeInteger(json) ? json : null;
}

/** The first `most` entries of a list; none: not a list. */
export function entriesOf(json: Json | undefined, most: number): readonly Json[] {
  return Array.isArray(json) ? json.slice(0, most) : [];
}

/** The mappings among the first `most` entries of a list. */
export function mappingsOf(json: Json | undefined, most: number): readonly JsonMapping[] {
  return entriesOf(json, most).filter(isMapping);
}

/** The first `most` pairs of a mapping; none: not a mapping. */
export function pairsOf(json: Json | undefined, most: number): readonly (readonly [string, Json])[] {
  return isMapping(json) ? Object.entries(json).slice(0, most) : [];
}

/** The texts among the first `most` entries of a list, each cut at `longest` characters. */
export function textsOf(json: Json | undefined, most: number, longest: number): readonly string[] {
  return entriesOf(json, most).flatMap(each => textOf(each, longest) ?? []);
}

/** `value` where it is one of `choices`. */
export function choiceOf<const Choice extends string>(
  value: Json | undefined,
  choices: readonly Choice[],
): Choice | null {
  return choices.find(choice => choice === value) ?? null;
}
