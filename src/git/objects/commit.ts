/**
 * Git commits as data: reading what a merge needs of one, and encoding new ones reproducibly. The bytes depend on nothing
 * but the arguments, so that every merger makes the same commit id.
 */
import type { Identity } from '../process/environment.ts';
import { type ObjectId, parseObjectId } from './object-id.ts';

/** What a merge needs of a commit; {@link messageOfCommit} reads its message. */
export interface Commit {
  readonly tree: ObjectId;
  readonly parents: readonly ObjectId[];
  /** Committer date in seconds since the Unix epoch; 0 when the commit holds none that can be read. */
  readonly committedAt: number;
}

/** A commit to write: the same values give the same id on every machine. */
export interface NewCommit {
  readonly tree: ObjectId;
  readonly parents: readonly ObjectId[];
  /** Committer; author, too, without `author`. */
  readonly identity: Identity;
  /** Committer date in seconds since the Unix epoch, written as UTC. */
  readonly date: number;
  /** The author line of another commit, without its keyword (`authorship.ts`). Default: identity and date. */
  readonly author?: Buffer;
  /** Name of the encoding of `author` and `message`. Default UTF-8. */
  readonly encoding?: Buffer;
  /** A text is cleaned up as `git merge -m` does it; bytes are written as they are. */
  readonly message: string | Buffer;
}

/** @throws Error when the bytes are not a commit. */
export function parseCommit(bytes: Buffer): Commit {
  const end = bytes.indexOf('\n\n');
  const header = bytes.toString('latin1', 0, end < 0 ? bytes.length : end).split('\n');
  const tree = header[0]?.startsWith('tree ') ? header[0].slice(5) : '';
  const parents = header.filter(line => line.startsWith('parent ')).map(line => parseObjectId(line.slice(7)));
  const committer = header.find(line => line.startsWith('committer '));
  return { tree: parseObjectId(tree), parents, committedAt: dateOf(committer ?? '') };
}

/** The message as written. Bytes that are not UTF-8 become replacement characters. */
export function messageOfCommit(bytes: Buffer): string {
  const end = bytes.indexOf('\n\n');
  return end < 0 ? '' : bytes.toString('utf8', end + 2);
}

function dateOf(line: string): number {
  const seconds = Number(/> (\d{1,12}) [+-]\d{4}$/.exec(line)?.[1] ?? 0);
  return Number.isSafeInteger(seconds) ? seconds : 0;
}

/** The content of the commit object, as git would write it. */
export function encodeCommit({ tree, parents, identity, date, ...rest }: NewCommit): Buffer {
  const who = `${plain(identity.name)} <${plain(identity.email)}> ${date} +0000`;
  const { author = who, encoding, message } = rest;
  const header = [`tree ${tree}\n`, ...parents.map(parent => `parent ${parent}\n`)];
  return joined([
    ...header,
    ...['author ', author, `\ncommitter ${who}\n`],
    ...(encoding === undefined ? [] : ['encoding ', encoding, '\n']),
    '\n',
    typeof message === 'string' ? cleanMessage(message) : message,
  ]);
}

function joined(parts: readonly (string | Buffer)[]): Buffer {
  return Buffer.concat(parts.map(part => (typeof part === 'string' ? Buffer.from(part) : part)));
}

/** Drops characters that would break the header line, as git does. */
function plain(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is dropped
  return text.replaceAll(/[\u0000-\u001f<>]/g, '').trim();
}

/** git's whitespace clean-up: no trailing blanks, no blank lines at either end or doubled, one newline at the end. */
function cleanMessage(message: string): string {
  const lines = message
    .replaceAll('\0', '')
    .toWellFormed()
    .split('\n')
    .map(line => line.replace(/[ \t\r\v\f]+$/, ''));
  const kept = lines.filter((line, index) => line !== '' || (index > 0 && lines[index - 1] !== ''));
  const text = kept.join('\n').replace(/^\n+/, '').replace(/\n+$/, '');
  return text === '' ? '' : `${text}\n`;
}
