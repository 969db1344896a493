/** A parsed YAML value with the place of each of its parts. */
import type { Json } from '../../model/job.ts';

/** An alias is the node of its anchor, with the place there. */
export type YamlNode = YamlScalar | YamlSequence | YamlMapping | YamlEncrypted;

interface CommonNode {
  /** Where it starts in the text, counted in UTF-16 units; turned into line and column only for errors. */
  readonly offset: number;
  /** Nodes in it, itself included, aliases counted as often as they are used. */
  readonly size: number;
  /** Levels of nesting in it, aliases included; 1 for a scalar. */
  readonly depth: number;
  /** Absent: no such tag. */
  readonly control?: YamlControl;
}

/** `!override` or `!inherit`: allowed for some attributes of jobs, a problem of the document elsewhere. */
interface YamlControl {
  readonly tag: 'override' | 'inherit';
  /** Of the tag. */
  readonly offset: number;
}

interface YamlScalar extends CommonNode {
  readonly kind: 'scalar';
  readonly value: null | boolean | number | string;
  /** As written, without quotes. */
  readonly text: string;
  /** Written without quotes. */
  readonly plain: boolean;
}

/** `!encrypted/pkcs1-oaep`: allowed in the data of secrets alone, a problem of the document elsewhere. */
interface YamlEncrypted extends CommonNode {
  readonly kind: 'encrypted';
  /** Base64 as written, white space included. */
  readonly chunks: readonly string[];
}

interface YamlSequence extends CommonNode {
  readonly kind: 'sequence';
  readonly elements: readonly YamlNode[];
}

/** A key's value; the key itself is in the map. */
export interface YamlEntry {
  readonly keyOffset: number;
  readonly value: YamlNode;
}

/** Keys are texts and unique; entries merged with `<<` are among them, at the places where they are written. */
export interface YamlMapping extends CommonNode {
  readonly kind: 'mapping';
  /** In the order of the text. */
  readonly entries: ReadonlyMap<string, YamlEntry>;
}

/** The plain value. Bounded, because the parser refuses documents that are deep, or large with aliases expanded. */
export function jsonOf(node: YamlNode): Json {
  switch (node.kind) {
    case 'scalar':
      return node.value;
    case 'encrypted':
      // Read by `parse-secret.ts`; elsewhere the document has a problem in this place.
      return null;
    case 'sequence':
      return node.elements.map(jsonOf);
    case 'mapping':
      return Object.fromEntries([...node.entries].map(([key, { value }]) => [key, jsonOf(value)]));
  }
}

/** The node at `path`, or the deepest one on the way to it, for the place of an error. */
export function nodeAt(node: YamlNode, path: readonly (string | number)[]): { readonly offset: number } {
  const [step, ...rest] = path;
  if (step === undefined) return node;
  if (node.kind === 'sequence' && typeof step === 'number') {
    const element = node.elements[step];
    return element === undefined ? node : nodeAt(element, rest);
  }
  if (node.kind === 'mapping') {
    const entry = node.entries.get(String(step));
    if (entry === undefined) return node;
    return rest.length === 0 ? { offset: entry.keyOffset } : nodeAt(entry.value, rest);
  }
  return node;
}

/** Its name in an error: `a list`, `the string "no"`, `nothing`. */
export function describeNode(node: YamlNode): string {
  switch (node.kind) {
    case 'encrypted':
      return 'an encrypted value';
    case 'sequence':
      return 'a list';
    case 'mapping':
      return 'a mapping';
    case 'scalar':
      if (node.value === null) return 'nothing';
      if (typeof node.value === 'string') return `the string "${shorten(node.value)}"`;
      return typeof node.value === 'number' ? `the number ${node.text}` : `${node.value}`;
  }
}

function shorten(text: string): string {
  const line = text.split('\n', 1)[0] ?? '';
  return line.length > 40 || line.length < text.length ? `${line.slice(0, 40)}…` : line;
}
