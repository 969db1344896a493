/**
 * YAML events → a tree of nodes with places. An alias shares the node of its anchor; the size and depth of a node, with
 * aliases expanded, are counted during the build and bounded.
 */
import { EVENT_ID, type Event, getScalarValue, SCALAR_STYLE, type ScalarEvent } from 'js-yaml';
import type { LineColumn } from './text-lines.ts';
import { describeNode, type YamlEntry, type YamlNode } from './yaml-node.ts';
import { plainScalar } from './yaml-scalar.ts';

/** Levels of a document with aliases expanded; js-yaml stops there as well. */
export const MAX_DEPTH = 64;
const MAX_NODES = 250_000;

const ENCRYPTED = '!encrypted/pkcs1-oaep';
/** Code of the problem that every encrypted value is, until it is found to be in a secret. */
export const MISPLACED_SECRET = 'misplaced-secret';
/** Likewise of `!override` and `!inherit`, until they are found at an attribute that takes them. */
export const MISPLACED_CONTROL = 'misplaced-control';

/** A mistake in a text whose file is not known yet: `code` is stable, for machines, `text` says what to do. */
export interface YamlProblem {
  readonly offset: number;
  readonly code: string;
  readonly text: string;
  /** Default `error`. */
  readonly severity?: 'warning';
}

/** Makes the whole document invalid, unlike a problem. */
export class TreeError extends Error {
  readonly offset: number;
  readonly code: string;

  constructor(offset: number, code: string, message: string) {
    super(message);
    this.offset = offset;
    this.code = code;
  }
}

const OPEN = Symbol('anchor of a node that is not complete yet');

/** Builds one document, once; afterwards `problems` has the mistakes that leave it valid. */
export class TreeBuilder {
  readonly problems: YamlProblem[] = [];
  readonly #text: string;
  readonly #events: readonly Event[];
  readonly #positionOf: (offset: number) => LineColumn;
  readonly #anchors = new Map<string, YamlNode | typeof OPEN>();
  #next = 0;
  #mergedEntries = 0;

  constructor(text: string, events: readonly Event[], positionOf: (offset: number) => LineColumn) {
    this.#text = text;
    this.#events = events;
    this.#positionOf = positionOf;
  }

  /** Undefined: an empty document. @throws TreeError when a bound is exceeded, an alias is wrong, or a second document follows. */
  build(): YamlNode | undefined {
    if (this.#events.length === 0) return undefined;
    this.#next = 1;
    const root = this.#isPop() ? undefined : this.#node(0);
    const second = this.#events[this.#next + 1];
    if (second !== undefined) {
      const start = this.#events[this.#next + 2];
      const offset = start !== undefined && 'start' in start ? start.start : this.#text.length;
      throw new TreeError(
        offset,
        'several-documents',
        'a second document starts here; a file holds one, remove the ---',
      );
    }
    return root?.kind === 'scalar' && root.plain && root.text === '' ? undefined : root;
  }

  #isPop(): boolean {
    return this.#events[this.#next]?.type === EVENT_ID.POP;
  }

  /** @param near offset for errors when the node itself has no text (an empty value). */
  #node(near: number): YamlNode {
    const event = this.#events[this.#next++];
    switch (event?.type) {
      case EVENT_ID.SCALAR:
        return this.#anchored(event, () => this.#scalar(event, near));
      case EVENT_ID.SEQUENCE:
        if (this.#tagOf(event) === ENCRYPTED)
          return this.#anchored(event, () => this.#encrypted(this.#sequence(event.start), event.tagStart));
        return this.#anchored(event, () => this.#controlled(event, () => this.#sequence(event.start)));
      case EVENT_ID.MAPPING:
        return this.#anchored(event, () => this.#controlled(event, () => this.#mapping(event.start)));
      case EVENT_ID.ALIAS:
        return this.#alias(event.anchorStart, event.anchorEnd);
      default:
        throw new Error(`unexpected YAML event ${event?.type}`);
    }
  }

  #scalar(event: ScalarEvent, near: number): YamlNode {
    const text = getScalarValue(this.#text, event);
    const offset = event.valueStart === -1 ? near : event.valueStart;
    const plain = event.style === SCALAR_STYLE.PLAIN;
    const scalar = (value: null | boolean | number | string): YamlNode => {
      return { kind: 'scalar', offset, value, text, plain, size: 1, depth: 1 };
    };
    const tag = this.#tagOf(event);
    if (tag === '!!str') return scalar(text);
    if (tag === ENCRYPTED) return this.#encrypted(scalar(text), event.tagStart);
    return this.#controlled(event, () => this.#plain(text, plain, offset, scalar));
  }

  #plain(
    text: string,
    plain: boolean,
    offset: number,
    scalar: (value: null | boolean | number | string) => YamlNode,
  ): YamlNode {
    if (text.includes('\0')) this.#complain(offset, 'bad-character', 'a NUL character is not allowed');
    if (!plain) return scalar(text);
    const meaning = plainScalar(text);
    if (meaning.kind === 'value') return scalar(meaning.value);
    this.#complain(offset, 'bad-number', meaning.text);
    return scalar(text);
  }

  #sequence(offset: number): YamlNode {
    const elements: YamlNode[] = [];
    let size = 1;
    let depth = 0;
    while (!this.#isPop()) {
      const element = this.#node(offset);
      elements.push(element);
      size += element.size;
      depth = Math.max(depth, element.depth);
    }
    this.#next++;
    return this.#bounded({ kind: 'sequence', offset, elements, size, depth: depth + 1 });
  }

  /** Where it may stand is not known here: `parse-file.ts` drops the problem for secrets. */
  #encrypted(node: YamlNode, tagStart: number): YamlNode {
    const text = `${ENCRYPTED} is for values in the data of a secret; use a secret, and name it in "secrets" of a job`;
    this.#complain(tagStart, MISPLACED_SECRET, text);
    const chunks = (node.kind === 'sequence' ? node.elements : [node]).map(each =>
      each.kind === 'scalar' ? each.text : '',
    );
    return { kind: 'encrypted', offset: node.offset, chunks, size: node.size, depth: node.depth };
  }

  #tagOf({ tagStart, tagEnd }: { readonly tagStart: number; readonly tagEnd: number }): string {
    return this.#text.slice(Math.max(0, tagStart), Math.max(0, tagEnd));
  }

  #mapping(offset: number): YamlNode {
    const own = new Map<string, YamlEntry>();
    const merges: YamlEntry[] = [];
    let size = 1;
    let depth = 0;
    while (!this.#isPop()) {
      const isMerge = this.#isMergeKey();
      const key = this.#node(offset);
      const value = this.#node(key.offset);
      size += 1 + value.size;
      depth = Math.max(depth, value.depth);
      if (isMerge) merges.push({ keyOffset: key.offset, value });
      else this.#addEntry(own, key, value);
    }
    this.#next++;
    const entries = merges.length === 0 ? own : this.#merged(merges, own);
    return this.#bounded({ kind: 'mapping', offset, entries, size, depth: depth + 1 });
  }

  #addEntry(entries: Map<string, YamlEntry>, key: YamlNode, value: YamlNode): void {
    if (key.kind !== 'scalar') {
      this.#complain(key.offset, 'bad-key', 'a key must be a string');
      return;
    }
    const first = entries.get(key.text);
    if (first === undefined) {
      entries.set(key.text, { keyOffset: key.offset, value });
      return;
    }
    const { line } = this.#positionOf(first.keyOffset);
    const text = `key "${key.text}" is repeated, first at line ${line}; remove one`;
    this.#complain(key.offset, 'duplicate-key', text);
  }

  #isMergeKey(): boolean {
    const event = this.#events[this.#next];
    if (event?.type !== EVENT_ID.SCALAR || event.style !== SCALAR_STYLE.PLAIN) return false;
    return getScalarValue(this.#text, event) === '<<';
  }

  /** A mapping's own entries win over merged ones; of a list of mappings the first wins, of several `<<` the last. */
  #merged(merges: readonly YamlEntry[], own: ReadonlyMap<string, YamlEntry>): ReadonlyMap<string, YamlEntry> {
    const entries = new Map<string, YamlEntry>();
    for (const { keyOffset, value } of merges) {
      for (const source of value.kind === 'sequence' ? value.elements.toReversed() : [value]) {
        for (const [name, entry] of this.#mergeSource(source, keyOffset)) entries.set(name, entry);
      }
    }
    for (const [name, entry] of own) entries.set(name, entry);
    return entries;
  }

  /** Unlike an alias, which shares its node, a merge copies entries: how many in all is bounded. */
  #mergeSource(source: YamlNode, keyOffset: number): ReadonlyMap<string, YamlEntry> {
    if (source.kind !== 'mapping') {
      const text = `<< merges a mapping or a list of mappings, not ${describeNode(source)}`;
      this.#complain(keyOffset, 'merge-key', text);
      return new Map();
    }
    this.#mergedEntries += source.entries.size;
    if (this.#mergedEntries > MAX_NODES) {
      throw new TreeError(keyOffset, 'too-many-nodes', `more than ${MAX_NODES} keys are merged with <<`);
    }
    return source.entries;
  }

  #alias(start: number, end: number): YamlNode {
    const name = this.#text.slice(start, end);
    const node = this.#anchors.get(name);
    if (node === undefined)
      throw new TreeError(
        start,
        'unknown-alias',
        `alias *${name} has no anchor &${name} above it; quote the value if it is not an alias`,
      );
    if (node === OPEN)
      throw new TreeError(start, 'circular-alias', `alias *${name} is inside the value it refers to`);
    return node;
  }

  #anchored(
    event: { readonly anchorStart: number; readonly anchorEnd: number },
    make: () => YamlNode,
  ): YamlNode {
    if (event.anchorStart === -1) return make();
    const name = this.#text.slice(event.anchorStart, event.anchorEnd);
    this.#anchors.set(name, OPEN);
    const node = make();
    this.#anchors.set(name, node);
    return node;
  }

  #bounded(node: YamlNode): YamlNode {
    if (node.size > MAX_NODES) {
      throw new TreeError(
        node.offset,
        'too-many-nodes',
        `more than ${MAX_NODES} values with aliases expanded`,
      );
    }
    if (node.depth > MAX_DEPTH) {
      throw new TreeError(node.offset, 'too-deep', `more than ${MAX_DEPTH} levels with aliases expanded`);
    }
    return node;
  }

  /** Where it may stand is not known here: `parse-file.ts` drops the problem for attributes that take it. */
  #controlled(event: { readonly tagStart: number; readonly tagEnd: number }, make: () => YamlNode): YamlNode {
    const tag = this.#tagOf(event);
    if (tag !== '!override' && tag !== '!inherit') {
      this.#refuseTag(event);
      return make();
    }
    const offset = event.tagStart;
    const text = `${tag} is for attributes of jobs that are combined with those of parents; remove it here`;
    this.#complain(offset, MISPLACED_CONTROL, text);
    return { ...make(), control: { tag: tag === '!override' ? 'override' : 'inherit', offset } };
  }

  #refuseTag({ tagStart, tagEnd }: { readonly tagStart: number; readonly tagEnd: number }): void {
    if (tagStart === -1) return;
    const tag = this.#text.slice(tagStart, tagEnd);
    this.#complain(tagStart, 'unknown-tag', `tag ${tag} is not supported; remove it`);
  }

  #complain(offset: number, code: string, text: string): void {
    this.problems.push({ offset, code, text });
  }
}
