/**
 * A store's tree as text that people can read and compare: one entry per node, records spelled out.
 *
 *     { "path": "/gatehouse/tenants/…/items/5d2c…", "records": [{ "k": "queue-item", "v": 1, "d": {…} }] }
 *     { "path": "/gatehouse/requests/…/queue/…",    "records": [{ "k": "request", … }, { "k": "merger-request", … }] }
 *     { "path": "/gatehouse/tenants/…/epoch",       "text": "/gatehouse/tenants/…" }
 *
 * `{root}` in a string stands for the directory of the site, so that it can be put up anywhere.
 */
import { randomIds } from '../../src/lib/ids.ts';
import { parentPath } from '../../src/store/node-path.ts';
import type { Store } from '../../src/store/port.ts';
import { readTree, writeTree } from '../../src/store/tree-copy.ts';

export interface StoredRecord {
  readonly k: string;
  readonly v: number;
  readonly d: unknown;
}

export interface DumpedNode {
  readonly path: string;
  /** It went with its session. */
  readonly ephemeral?: true;
  /** A record, or a line that is one and the record it carries. */
  readonly records?: readonly StoredRecord[];
  /** What is no record; absent with `records` and for empty nodes. */
  readonly text?: string;
  readonly base64?: string;
}

export interface GoldenTree {
  readonly release: string;
  readonly nodes: readonly DumpedNode[];
  /** `git bundle` of every repository of the code host, base64, by project. */
  readonly repositories: Readonly<Record<string, string>>;
}

const encoder = new TextEncoder();

export async function dump(store: Store, path: string, root: string): Promise<readonly DumpedNode[]> {
  const nodes = await Array.fromAsync(readTree(store, path));
  return nodes.map(({ path: below, data, ephemeral }) => ({
    path: below === '' ? path : `${path}/${below}`,
    ...(ephemeral ? { ephemeral: true as const } : {}),
    ...contentOf(data, root),
  }));
}

/** For a node that is not in a store. */
export function nodeOf(path: string, data: Uint8Array): DumpedNode {
  return { path, ...contentOf(data, '{root}') };
}

function contentOf(data: Uint8Array, root: string): Partial<DumpedNode> {
  if (data.length === 0) return {};
  const text = Buffer.from(data).toString('utf8').replaceAll(root, '{root}');
  const records = recordsIn(text);
  if (records !== undefined && textOf(records) === text) return { records };
  if (Buffer.from(text.replaceAll('{root}', root)).equals(data)) return { text };
  return { base64: Buffer.from(data).toString('base64') };
}

function recordsIn(text: string): readonly StoredRecord[] | undefined {
  try {
    const records = text.split('\n').map((line): unknown => JSON.parse(line));
    return records.every(isRecord) ? records : undefined;
  } catch {
    return undefined;
  }
}

function isRecord(value: unknown): value is StoredRecord {
  return typeof value === 'object' && value !== null && 'k' in value && 'v' in value && 'd' in value;
}

function textOf(records: readonly StoredRecord[]): string {
  return records.map(record => JSON.stringify(record)).join('\n');
}

/** The bytes of a node, of a site whose directory is `root`. */
function bytesOf(node: DumpedNode, root: string): Uint8Array {
  if (node.base64 !== undefined) return Buffer.from(node.base64, 'base64');
  const text = node.records === undefined ? (node.text ?? '') : textOf(node.records);
  return encoder.encode(text.replaceAll('{root}', root));
}

/** Writes the nodes that outlive their sessions, all below `/gatehouse`, with the numbers of their parents where they were. */
export async function restore(store: Store, nodes: readonly DumpedNode[], root: string): Promise<void> {
  const kept = new Map<string, Uint8Array>();
  const add = (path: string, data: Uint8Array): void => {
    if (path === TOP) return;
    if (parentPath(path) !== TOP && !kept.has(parentPath(path))) add(parentPath(path), new Uint8Array(0));
    kept.set(path, data);
  };
  for (const node of nodes) if (node.ephemeral !== true) add(node.path, bytesOf(node, root));
  const copied = [...kept].map(([path, data]) => ({ path: path.slice(TOP.length + 1), data, version: 0 }));
  await writeTree(store, TOP, copied, randomIds());
}

const TOP = '/gatehouse';
