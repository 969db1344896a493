/** A span as received, in either encoding: well-formed, its values not yet checked (`checked-span.ts`). */
import { stripUserinfo } from '../../lib/redact.ts';
import type { Attributes, AttributeValue } from '../../model/span.ts';
import type { RequestLimits } from './request-limits.ts';

/** By name, cut to the limits and without passwords in URLs. Of two values of one name the later counts. */
export interface ReceivedAttributes {
  readonly values: Attributes;
  /** Number of attributes not kept: of an unsupported type, without a name, or over the limit. */
  readonly dropped: number;
}

/** `at` should be nanoseconds since the epoch; not checked yet. */
export interface ReceivedEvent {
  readonly at: bigint;
  readonly name: string;
  readonly attributes: ReceivedAttributes;
}

/** A link without a valid target is dropped later, by checked-span.ts; it does not make the span invalid. */
export interface ReceivedLink {
  /** Hexadecimal when valid; not checked yet. */
  readonly traceId: string;
  readonly spanId: string;
  readonly attributes: ReceivedAttributes;
}

/** Ids are lower-case hexadecimal when valid, but may be any text; times are nanoseconds since the epoch, but may be any number. */
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
  readonly attributes: ReceivedAttributes;
  /** At most the limit; the rest is counted in {@link dropped}. */
  readonly events: readonly ReceivedEvent[];
  readonly links: readonly ReceivedLink[];
  /** 0 unset, 1 ok, 2 error. */
  readonly status: { readonly code: number; readonly message: string };
  /** Number dropped by the sender plus number not read. */
  readonly dropped: { readonly attributes: number; readonly events: number; readonly links: number };
}

/** The resource that the spans of one `ResourceSpans` share. */
export interface SharedResource {
  readonly attributes: Attributes;
  /** Its part of a span's stored size. Computed once: thousands of spans may share it. */
  readonly bytes: number;
}

/** @param attributes already cut to the limits by an {@link AttributeCollector}. */
export function sharedResource(attributes: Attributes): SharedResource {
  return { attributes, bytes: jsonBytes({ resource: attributes }) };
}

/** Size of a value in an outbox, where a row is JSON. */
export function jsonBytes(value: object): number {
  return Buffer.byteLength(JSON.stringify(value));
}

/** One span of a request, with its resource and scope. */
export interface SpanInRequest {
  readonly resource: SharedResource;
  readonly scope: string;
  /**
   * Parsed on call: a span over a limit is never parsed.
   *
   * @throws RangeError when it is malformed.
   */
  readonly span: () => ReceivedSpan;
}

/** A value of OTLP's `AnyValue`; undefined for what is not kept (bytes, nested lists, maps, no value). */
export type ReceivedValue = string | number | bigint | boolean | readonly ReceivedValue[] | undefined;

/** Collects one span's, event's, link's or resource's attributes within the limits; the rest is counted, never an error. */
export interface AttributeCollector {
  add(key: string, value: ReceivedValue): void;
  /** To be called once, after the last {@link add}. */
  done(): ReceivedAttributes;
}

/** One for each set of attributes: the limit on their number is per set. */
export function attributeCollector(limits: RequestLimits): AttributeCollector {
  const values = new Map<string, AttributeValue>();
  let dropped = 0;
  return {
    add(key, received) {
      const value = carried(received, limits);
      const full = values.size >= limits.attributes && !values.has(key);
      if (value === undefined || full || key === '' || key.length > limits.nameLength) dropped += 1;
      else values.set(key, value);
    },
    // fromEntries defines properties: `__proto__` is a key like any other.
    done: () => ({ values: Object.fromEntries(values), dropped }),
  };
}

function carried(value: ReceivedValue, limits: RequestLimits): AttributeValue | undefined {
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
      // As text: a double would lose the last digits.
      return Number.isSafeInteger(Number(value)) ? Number(value) : String(value);
    case 'number':
      return Number.isFinite(value) ? value : undefined;
    default:
      return value;
  }
}

/** Undefined unless all values are of one type. */
function carriedList(list: readonly ReceivedValue[], limits: RequestLimits): AttributeValue | undefined {
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
