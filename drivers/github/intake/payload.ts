/**
 * Reads some fields of a webhook's payload in one pass over its text, without making objects of the others: a pull request comes with
 * 20 KB of its repositories, and a push may list 20 000 commits, of which nothing is of interest.
 *
 *     const fields = payloadFields(['action', 'pull_request.base.ref']);
 *     readPayload(text, fields)?.get('pull_request.base.ref')      // 'main'; undefined: there is no such field
 */
import assert from 'node:assert/strict';
import { endOfJsonString } from '../../../src/lib/json-string.ts';

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_OBJECT = 0x7b;
const OPEN_LIST = 0x5b;
const CLOSE_OBJECT = 0x7d;
const CLOSE_LIST = 0x5d;

/** Characters of one field as JSON; GitHub's largest of interest, a comment, has some hundred thousand. */
const LONGEST_FIELD = 1024 * 1024;

/** A field, or an object with wanted fields in it. Made by {@link payloadFields}. */
export interface PayloadFields {
  /** Names with dots between, as asked for. */
  readonly path: string;
  /** Empty: the field itself is wanted. */
  readonly members: Map<string, PayloadFields>;
  /** Paths of all wanted fields in it. */
  readonly wanted: Set<string>;
}

/** @param paths none of which is the beginning of another one. */
export function payloadFields(paths: readonly string[]): PayloadFields {
  const root: PayloadFields = { path: '', members: new Map(), wanted: new Set(paths) };
  for (const path of root.wanted) {
    let object = root;
    for (const name of path.split('.')) {
      const at = object.path === '' ? name : `${object.path}.${name}`;
      const member = object.members.get(name) ?? { path: at, members: new Map(), wanted: new Set() };
      object.members.set(name, member);
      member.wanted.add(path);
      object = member;
    }
  }
  return root;
}

/** The wanted fields that are there. */
export class Payload {
  readonly #wanted: ReadonlySet<string>;
  readonly #values: ReadonlyMap<string, unknown>;

  constructor(wanted: ReadonlySet<string>, values: ReadonlyMap<string, unknown>) {
    this.#wanted = wanted;
    this.#values = values;
  }

  /** Undefined: there is no such field. @param path must be wanted. */
  get(path: string): unknown {
    assert(this.#wanted.has(path), `${path} was not read`);
    return this.#values.get(path);
  }
}

/**
 * Only the objects that hold wanted fields have to be well-formed. Of a field that is there twice the last one counts.
 *
 * @returns undefined: not a JSON object, as far as it was read, or a field is too large.
 */
export function readPayload(text: string, fields: PayloadFields): Payload | undefined {
  const values = new PayloadReader(text).read(fields);
  return values === undefined ? undefined : new Payload(fields.wanted, values);
}

class PayloadReader {
  readonly #text: string;
  readonly #values = new Map<string, unknown>();
  /** Of the next character. */
  #position = 0;

  constructor(text: string) {
    this.#text = text;
  }

  read(fields: PayloadFields): ReadonlyMap<string, unknown> | undefined {
    this.#skipSpace();
    const isRead = this.#object(fields);
    this.#skipSpace();
    return isRead && this.#position === this.#text.length ? this.#values : undefined;
  }

  #object({ members }: PayloadFields): boolean {
    if (!this.#take(OPEN_OBJECT)) return false;
    if (this.#take(CLOSE_OBJECT)) return true;
    do {
      const begin = this.#position;
      if (this.#text.charCodeAt(begin) !== QUOTE) return false;
      const end = endOfJsonString(this.#text, begin + 1);
      this.#position = end + 1;
      const name = this.#text.slice(begin + 1, end);
      this.#skipSpace();
      if (!this.#take(COLON) || !this.#value(members.get(name))) return false;
      this.#skipSpace();
    } while (this.#take(COMMA));
    return this.#take(CLOSE_OBJECT);
  }

  #value(field: PayloadFields | undefined): boolean {
    const begin = this.#position;
    if (field !== undefined) for (const path of field.wanted) this.#values.delete(path);
    if (field !== undefined && field.members.size > 0 && this.#text.charCodeAt(begin) === OPEN_OBJECT)
      return this.#object(field);
    this.#skipValue();
    if (field === undefined || field.members.size > 0) return true;
    if (this.#position - begin > LONGEST_FIELD) return false;
    try {
      this.#values.set(field.path, JSON.parse(this.#text.slice(begin, this.#position)));
      return true;
    } catch {
      return false;
    }
  }

  /** Whether the character was next; then it is skipped, with the space behind it. */
  #take(character: number): boolean {
    if (this.#text.charCodeAt(this.#position) !== character) return false;
    this.#position += 1;
    this.#skipSpace();
    return true;
  }

  /** To the comma or bracket behind the value, or to the end. */
  #skipValue(): void {
    const text = this.#text;
    let depth = 0;
    let position = this.#position;
    for (; position < text.length; position++) {
      const character = text.charCodeAt(position);
      if (character === QUOTE) position = endOfJsonString(text, position + 1);
      else if (character === OPEN_OBJECT || character === OPEN_LIST) depth += 1;
      else if (depth === 0 && (character === COMMA || character === CLOSE_OBJECT)) break;
      else if (character === CLOSE_OBJECT || character === CLOSE_LIST) depth -= 1;
    }
    this.#position = Math.min(position, text.length);
  }

  #skipSpace(): void {
    while (isSpace(this.#text.charCodeAt(this.#position))) this.#position += 1;
  }
}

function isSpace(character: number): boolean {
  return character === 0x20 || character === 0x0a || character === 0x0d || character === 0x09;
}
