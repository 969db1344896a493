/**
 * A tree as lines of JSON, one node each, so that neither side needs to hold more than one of them:
 *
 *     {"dump":"gatehouse store","format":1,"release":"0.2.0","root":"/gatehouse","at":"2026-11-20T18:00:00.000Z"}
 *     {"path":"tenants/acme/epoch","version":4,"text":"/gatehouse/tenants/acme/lock/…"}
 *     {"path":"blobs/9f86…","version":0,"base64":"UEsDBA=="}
 *     {"end":true,"nodes":2}
 *
 * Data is `text` where it is UTF-8 without loss, else `base64`, and neither for empty nodes. The last line marks a complete
 * dump. Records are copied as they are; each carries its own version.
 */
import type { CopiedNode } from './tree-copy.ts';

const FORMAT = 1;
const NAME = 'gatehouse store';

/** The first line: what a restore checks before it writes anything. */
export interface DumpHead {
  /** Of the program that wrote it. */
  readonly release: string;
  /** Path of the installation; must be the same where it is restored: a commit under way names paths. */
  readonly root: string;
  /** ISO 8601, UTC. */
  readonly at: string;
}

/** Not a dump, an unknown format, damaged, or truncated. The message is one line for an operator. */
export class DumpError extends Error {
  override readonly name = 'DumpError';
}

/** Lines without their ends. */
export async function* dumpLines(
  head: DumpHead,
  nodes: AsyncIterable<CopiedNode>,
): AsyncGenerator<string, void, undefined> {
  yield JSON.stringify({ dump: NAME, format: FORMAT, ...head });
  let count = 0;
  for await (const { path, version, data } of nodes) {
    count += 1;
    yield JSON.stringify({ path, version, ...contentOf(data) });
  }
  yield JSON.stringify({ end: true, nodes: count });
}

function contentOf(data: Uint8Array): { readonly text?: string; readonly base64?: string } {
  if (data.length === 0) return {};
  const bytes = Buffer.from(data);
  const text = bytes.toString('utf8');
  return Buffer.from(text).equals(bytes) ? { text } : { base64: bytes.toString('base64') };
}

/** @throws DumpError */
export function parseDumpHead(line: string | undefined): DumpHead {
  const { dump, format, release, root, at } = objectOf(line, 1);
  if (dump !== NAME)
    throw new DumpError('this is no dump: its first line is not that of "gatehouse store dump"');
  if (
    typeof format !== 'number' ||
    typeof release !== 'string' ||
    typeof root !== 'string' ||
    typeof at !== 'string'
  )
    throw new DumpError('line 1: the dump is damaged; use another one');
  if (format > FORMAT)
    throw new DumpError(
      `the dump has format ${format} of release ${release}, this release reads ${FORMAT}; restore it with that release or a newer one`,
    );
  return { release, root, at };
}

/**
 * The nodes of a dump.
 *
 * @param lines after the first one.
 * @throws DumpError also after the last node, when the dump is cut short.
 */
export async function* parseDumpNodes(
  lines: AsyncIterable<string>,
): AsyncGenerator<CopiedNode, void, undefined> {
  let count = 0;
  let ended = false;
  for await (const line of lines) {
    const number = count + 2;
    if (ended)
      throw new DumpError(`line ${number + 1}: something follows the end of the dump; use another one`);
    const fields = objectOf(line, number);
    if (fields.end === true) {
      if (fields.nodes !== count)
        throw new DumpError(
          `the dump has ${count} nodes and should have ${String(fields.nodes)}; use another one`,
        );
      ended = true;
      continue;
    }
    count += 1;
    yield nodeOf(fields, number);
  }
  if (!ended) throw new DumpError(`the dump is cut short after line ${count + 1}; use another one`);
}

function nodeOf({ path, version, text, base64 }: Fields, line: number): CopiedNode {
  if (typeof path !== 'string' || typeof version !== 'number' || !Number.isInteger(version) || version < 0)
    throw new DumpError(`line ${line}: the dump is damaged; use another one`);
  if (typeof base64 === 'string') return { path, version, data: Buffer.from(base64, 'base64') };
  return { path, version, data: Buffer.from(typeof text === 'string' ? text : '') };
}

type Fields = { readonly [name: string]: unknown };

function objectOf(line: string | undefined, number: number): Fields {
  if (line === undefined) throw new DumpError('the dump is empty; was the right file given?');
  try {
    const value: unknown = JSON.parse(line);
    if (typeof value === 'object' && value !== null) return { ...value };
  } catch (error) {
    throw new DumpError(
      number === 1
        ? 'this is no dump: its first line is not that of "gatehouse store dump"'
        : `line ${number}: the dump is damaged or cut short; use another one`,
      { cause: error },
    );
  }
  throw new DumpError(`line ${number}: the dump is damaged; use another one`);
}
