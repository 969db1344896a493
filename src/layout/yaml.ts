/**
 * Configuration YAML, read with places and bounds.
 *
 *     parseYaml('- job:\n    name: a\n    name: b\n')
 *       → { kind: 'document', root: …, problems: [{ offset: 25, code: 'duplicate-key',
 *           text: 'key "name" is there twice, first at line 2' }] }
 *
 * A text that cannot be parsed at all is `invalid` with one place. What is wrong with one value only (a duplicate key, a
 * tag, a merge key) is a problem at its offset: the caller drops the item around it and keeps the rest.
 *
 * Bounds: 1 MiB of text, 64 levels, 100 000 nodes after aliases are followed. Aliases share nodes, so a small text
 * cannot become a large value.
 */
import {
  EVENT_ID,
  type Event,
  getScalarValue,
  parseEvents,
  SCALAR_STYLE,
  type ScalarEvent,
  YAMLException,
} from 'js-yaml';
import type { YamlEntry, YamlNode } from './yaml-node.ts';
import { plainScalar } from './yaml-scalar.ts';

export const MAX_YAML_LENGTH = 1_048_576;
const MAX_DEPTH = 64;
const MAX_NODES = 100_000;

export interface LineColumn {
  /** From 1. */
  readonly line: number;
  /** From 1. */
  readonly column: number;
}

export interface YamlProblem {
  readonly offset: number;
  readonly code: string;
  readonly text: string;
}

export interface YamlDocument {
  readonly kind: 'document';
  /** Undefined: the text holds nothing but comments. */
  readonly root: YamlNode | undefined;
  readonly problems: readonly YamlProblem[];
  positionOf(offset: number): LineColumn;
}

export type ParsedYaml =
  | YamlDocument
  | ({ readonly kind: 'invalid'; readonly code: string; readonly text: string } & LineColumn);

export function parseYaml(text: string): ParsedYaml {
  const refuse = (position: LineColumn, code: string, reason: string): ParsedYaml => ({
    kind: 'invalid',
    ...position,
    code,
    text: reason,
  });
  if (text.length > MAX_YAML_LENGTH) {
    return refuse({ line: 1, column: 1 }, 'file-too-large', 'the file is larger than 1 MiB; split it');
  }
  const positionOf = positions(text);
  try {
    const builder = new TreeBuilder(text, parseEvents(text, { maxDepth: MAX_DEPTH }), positionOf);
    const root = builder.build();
    return { kind: 'document', root, problems: builder.problems, positionOf };
  } catch (error) {
    if (error instanceof TreeError) return refuse(positionOf(error.offset), error.code, error.message);
    if (!(error instanceof YAMLException)) throw error;
    const { mark } = error;
    const position = { line: (mark?.line ?? 0) + 1, column: (mark?.column ?? 0) + 1 };
    return refuse(position, 'yaml-syntax', `not valid YAML: ${error.reason}`);
  }
}

/** Ends the whole document, unlike a problem. */
class TreeError extends Error {
  readonly offset: number;
  readonly code: string;

  constructor(offset: number, code: string, message: string) {
    super(message);
    this.offset = offset;
    this.code = code;
  }
}

const OPEN = Symbol('anchor of a node that is not complete yet');

class TreeBuilder {
  readonly problems: YamlProblem[] = [];
  readonly #text: string;
  readonly #events: readonly Event[];
  readonly #positionOf: (offset: number) => LineColumn;
  readonly #anchors = new Map<string, YamlNode | typeof OPEN>();
  #next = 0;

  constructor(text: string, events: readonly Event[], positionOf: (offset: number) => LineColumn) {
    this.#text = text;
    this.#events = events;
    this.#positionOf = positionOf;
  }

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
    return root;
  }

  #isPop(): boolean {
    return this.#events[this.#next]?.type === EVENT_ID.POP;
  }

  /** @param near where to point when the node itself has no text (an empty value). */
  #node(near: number): YamlNode {
    const event = this.#events[this.#next++];
    switch (event?.type) {
      case EVENT_ID.SCALAR:
        return this.#anchored(event, () => this.#scalar(event, near));
      case EVENT_ID.SEQUENCE:
        this.#refuseTag(event);
        return this.#anchored(event, () => this.#sequence(event.start));
      case EVENT_ID.MAPPING:
        this.#refuseTag(event);
        return this.#anchored(event, () => this.#mapping(event.start));
      case EVENT_ID.ALIAS:
        return this.#alias(event.anchorStart, event.anchorEnd);
      default:
        throw new Error(`unexpected YAML event ${event?.type}`);
    }
  }

  #scalar(event: ScalarEvent, near: number): YamlNode {
    const text = getScalarValue(this.#text, event);
    const offset = event.valueStart === -1 ? near : event.valueStart;
    const scalar = (value: null | boolean | number | string): YamlNode => {
      return { kind: 'scalar', offset, value, text, size: 1, depth: 1 };
    };
    const tag = this.#text.slice(Math.max(0, event.tagStart), Math.max(0, event.tagEnd));
    if (tag === '!!str') return scalar(text);
    this.#refuseTag(event);
    if (text.includes('\0')) this.#complain(offset, 'bad-character', 'a NUL character is not allowed');
    if (event.style !== SCALAR_STYLE.PLAIN) return scalar(text);
    const plain = plainScalar(text);
    if (plain.kind === 'value') return scalar(plain.value);
    this.#complain(offset, 'bad-number', plain.text);
    return scalar(text);
  }

  #sequence(offset: number): YamlNode {
    const items: YamlNode[] = [];
    let size = 1;
    let depth = 0;
    while (!this.#isPop()) {
      const item = this.#node(offset);
      items.push(item);
      size += item.size;
      depth = Math.max(depth, item.depth);
    }
    this.#next++;
    return this.#bounded({ kind: 'sequence', offset, items, size, depth: depth + 1 });
  }

  #mapping(offset: number): YamlNode {
    const entries = new Map<string, YamlEntry>();
    let size = 1;
    let depth = 0;
    while (!this.#isPop()) {
      const keyEvent = this.#events[this.#next];
      const key = this.#node(offset);
      const value = this.#node(key.offset);
      size += 1 + value.size;
      depth = Math.max(depth, value.depth);
      const name = key.kind === 'scalar' ? key.text : undefined;
      const first = name === undefined ? undefined : entries.get(name);
      if (name === undefined) {
        this.#complain(key.offset, 'bad-key', 'a key must be a simple text');
      } else if (
        name === '<<' &&
        keyEvent?.type === EVENT_ID.SCALAR &&
        keyEvent.style === SCALAR_STYLE.PLAIN
      ) {
        this.#complain(key.offset, 'merge-key', 'merge keys (<<) are not supported; write the keys out');
      } else if (first !== undefined) {
        const { line } = this.#positionOf(first.keyOffset);
        this.#complain(
          key.offset,
          'duplicate-key',
          `key "${name}" is there twice, first at line ${line}; remove one`,
        );
      } else {
        entries.set(name, { keyOffset: key.offset, value });
      }
    }
    this.#next++;
    return this.#bounded({ kind: 'mapping', offset, entries, size, depth: depth + 1 });
  }

  #alias(start: number, end: number): YamlNode {
    const name = this.#text.slice(start, end);
    const node = this.#anchors.get(name);
    if (node === undefined)
      throw new TreeError(start, 'unknown-alias', `alias *${name} has no anchor &${name} above it`);
    if (node === OPEN)
      throw new TreeError(start, 'circular-alias', `alias *${name} stands inside the value it refers to`);
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
        `more than ${MAX_NODES} values once aliases are followed`,
      );
    }
    if (node.depth > MAX_DEPTH) {
      throw new TreeError(node.offset, 'too-deep', `more than ${MAX_DEPTH} levels once aliases are followed`);
    }
    return node;
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

/** Offset → line and column; the table of lines is made when first asked for. */
function positions(text: string): (offset: number) => LineColumn {
  let starts: number[] | undefined;
  return offset => {
    starts ??= lineStarts(text);
    let low = 0;
    let high = starts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((starts[middle] ?? 0) <= offset) low = middle;
      else high = middle - 1;
    }
    return { line: low + 1, column: offset - (starts[low] ?? 0) + 1 };
  };
}

function lineStarts(text: string): number[] {
  const starts = [0];
  for (const match of text.matchAll(/\r\n|\n|\r/g)) starts.push(match.index + match[0].length);
  return starts;
}
