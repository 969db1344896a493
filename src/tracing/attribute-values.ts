/** Turns facts into attributes: allow-listed names, values that OTLP can carry, URLs without passwords. */
import { stripUserinfo } from '../lib/redact.ts';
import type { Attributes, AttributeValue } from '../model/span.ts';
import { ALLOWED, CULPRIT_FACTS, EVENT_FACTS, type SpanKind } from './allowed-attributes.ts';
import type { AttributeKey } from './attributes.ts';

/** Facts by attribute key; null and undefined give no attribute. */
export type AttributeInput = { readonly [key in AttributeKey]?: unknown };

/** Longer texts are cut: an attribute is a fact, not a log. */
export const LONGEST_TEXT = 1024;
/** Longer lists are cut. */
export const LONGEST_LIST = 64;

/**
 * Attributes of a span of `kind`. Names that are not allowed for the kind, null, objects, empty or mixed lists and numbers that
 * are not finite are left out; texts lose URL userinfo.
 *
 * @param ready attributes made by this function for a kind whose allow-list is a subset: those that all spans of a trace share are
 *   made once.
 * @param more like `input`, and overrides it.
 *
 *     attributesOf('Wait', { waitState: 'window', waitSubject: undefined, job: 'unit' })  →  { 'gatehouse.wait.state': 'window' }
 */
export function attributesOf(
  kind: SpanKind,
  input: AttributeInput,
  ready: Attributes = NONE,
  more: AttributeInput = NONE,
): Attributes {
  const allowed = ALLOWED.get(kind);
  const attributes: { [name: string]: AttributeValue } = { ...ready };
  if (allowed === undefined) return attributes;
  addFacts(attributes, allowed, input);
  addFacts(attributes, allowed, more);
  return attributes;
}

function addFacts(
  attributes: { [name: string]: AttributeValue },
  allowed: ReadonlyMap<string, string>,
  facts: { readonly [key: string]: unknown },
): void {
  for (const key in facts) {
    const name = allowed.get(key);
    if (name === undefined) continue;
    const value = wireValue(facts[key]);
    if (value !== undefined) attributes[name] = value;
  }
}

const NONE = {};

/** Attributes of a span event, from its stored facts. */
export function eventAttributes(facts: { readonly [name: string]: unknown }): Attributes {
  const attributes: { [name: string]: AttributeValue } = {};
  addFacts(attributes, facts.culprit === undefined ? EVENT_FACTS : CULPRIT_FACTS, facts);
  return attributes;
}

function wireValue(value: unknown): AttributeValue | undefined {
  switch (typeof value) {
    case 'string':
      return clean(value);
    case 'boolean':
      return value;
    case 'number':
      return Number.isFinite(value) ? value : undefined;
    default:
      return Array.isArray(value) ? textList(value) : undefined;
  }
}

function textList(values: readonly unknown[]): readonly string[] | undefined {
  const texts: string[] = [];
  for (const value of values.slice(0, LONGEST_LIST)) {
    if (typeof value !== 'string') return undefined;
    texts.push(clean(value));
  }
  return texts.length === 0 ? undefined : texts;
}

function clean(text: string): string {
  const whole = text.includes('://') ? stripUserinfo(text) : text;
  const short = whole.length > LONGEST_TEXT ? `${whole.slice(0, LONGEST_TEXT - 1)}…` : whole;
  return short.isWellFormed() ? short : short.toWellFormed();
}
