/** A span as somebody told it, in either encoding: right in form, not yet checked for sense (`checked-span.ts`). */
import { stripUserinfo } from '../../lib/redact.ts';
import type { Attributes, AttributeValue } from '../../model/span.ts';
import type { RequestLimits } from './request-limits.ts';

export interface ToldAttributes {
  readonly values: Attributes;
  /** How many were left away: of a kind we do not carry, nameless, or too many. */
  readonly dropped: number;
}

export interface ToldEvent {
  readonly at: bigint;
  readonly name: string;
  readonly attributes: ToldAttributes;
}

export interface ToldLink {
  /** Hexadecimal, if it is what it should be. */
  readonly traceId: string;
  readonly spanId: string;
  readonly attributes: ToldAttributes;
}

export interface ReceivedSpan {
  readonly traceId: string;
  readonly spanId: string;
  /** Empty: none. */
  readonly parentSpanId: string;
  readonly traceState: string;
  readonly name: string;
  /** OTLP's: 1 internal … 5 consumer; anything else counts as internal. */
  readonly kind: number;
  readonly start: bigint;
  readonly end: bigint;
  readonly attributes: ToldAttributes;
  /** At most as many as the limits say; the rest is in {@link dropped}. */
  readonly events: readonly ToldEvent[];
  readonly links: readonly ToldLink[];
  /** 0 unset, 1 ok, 2 error. */
  readonly status: { readonly code: number; readonly message: string };
  /** What its maker says it left away, and what we did not read. */
  readonly dropped: { readonly attributes: number; readonly events: number; readonly links: number };
}

/** What the spans of one `ResourceSpans` share. */
export interface SharedResource {
  readonly attributes: Attributes;
  /** What it adds to each span where that is stored: weighed once, for thousands of spans may share it. */
  readonly bytes: number;
}

export function sharedResource(attributes: Attributes): SharedResource {
  return { attributes, bytes: jsonBytes({ resource: attributes }) };
}

/** What it takes in an outbox, where a row is JSON. */
export function jsonBytes(value: object): number {
  return Buffer.byteLength(JSON.stringify(value));
}

/** One span with what it shares with its neighbours. */
export interface ToldSpanOf {
  readonly resource: SharedResource;
  readonly scope: string;
  /**
   * Read when it is asked for: one that is over a limit never is.
   *
   * @throws RangeError when it is malformed.
   */
  readonly span: () => ReceivedSpan;
}

/** A value of OTLP's `AnyValue`; undefined for what we do not carry (bytes, nested lists, maps, nothing). */
export type ToldValue = string | number | bigint | boolean | readonly ToldValue[] | undefined;

export interface AttributeCollector {
  add(key: string, value: ToldValue): void;
  done(): ToldAttributes;
}

export function attributeCollector(limits: RequestLimits): AttributeCollector {
  const values = new Map<string, AttributeValue>();
  let dropped = 0;
  return {
    add(key, told) {
      const value = carried(told, limits);
      const full = values.size >= limits.attributes && !values.has(key);
      if (value === undefined || full || key === '' || key.length > limits.nameLength) dropped += 1;
      else values.set(key, value);
    },
    // fromEntries defines: a key `__proto__` is a key like any other.
    done: () => ({ values: Object.fromEntries(values), dropped }),
  };
}

function carried(value: ToldValue, limits: RequestLimits): AttributeValue | undefined {
  if (value === undefined) return undefined;
  if (typeof value === 'object') return carriedList(value, limits);
  return carriedScalar(value, limits);
}

function carriedScalar(
  value: string | number | bigint | boolean,
  limits: RequestLimits,
): string | number | boolean | undefined {
  switch (typeof value) {
    case 'string':
      return cutText(value, limits.textLength);
    case 'bigint':
      // As text rather than with its last digits lost.
      return Number.isSafeInteger(Number(value)) ? Number(value) : String(value);
    case 'number':
      return Number.isFinite(value) ? value : undefined;
    default:
      return value;
  }
}

/** Undefined unless all are of one kind. */
function carriedList(list: readonly ToldValue[], limits: RequestLimits): AttributeValue | undefined {
  const short = list.slice(0, limits.listLength).map(each => {
    return each === undefined || typeof each === 'object' ? undefined : carriedScalar(each, limits);
  });
  const texts = short.filter(each => typeof each === 'string');
  const numbers = short.filter(each => typeof each === 'number');
  const booleans = short.filter(each => typeof each === 'boolean');
  return [texts, numbers, booleans].find(
    same => same.length === list.length || same.length === limits.listLength,
  );
}

/** Well-formed, without a password in a URL, at most `length` characters. */
export function cutText(text: string, length: number): string {
  const short = text.length > length ? `${text.slice(0, length - 1)}…` : text;
  const safe = short.includes('://') ? stripUserinfo(short) : short;
  return safe.isWellFormed() ? safe : safe.toWellFormed();
}
