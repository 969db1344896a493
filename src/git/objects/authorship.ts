/** Who wrote a commit, and its message: what a commit keeps that is made again on another parent. */
import { isUtf8 } from 'node:buffer';

/** All in the bytes of the commit, without line ends. */
export interface Authorship {
  /** `Ada <ada@example.org> 1767225600 +0100`; undefined when the commit has no line that git would accept. */
  readonly author: Buffer | undefined;
  /** Absent: UTF-8. */
  readonly encoding?: Buffer;
  readonly message: Buffer;
}

const AUTHOR = /^author ([^<>\0]+ <[^<>\0]*> \d{1,12} [+-]\d{4})$/;
const ENCODING = /^encoding ([\w.:+-]{1,40})$/;

/** @param bytes the content of a commit object; foreign: only well-formed lines are taken. */
export function authorshipOf(bytes: Buffer): Authorship {
  const end = bytes.indexOf('\n\n');
  const header = bytes.toString('latin1', 0, end < 0 ? bytes.length : end).split('\n');
  const found = (pattern: RegExp) => header.flatMap(line => pattern.exec(line)?.[1] ?? [])[0];
  const [author, encoding] = [found(AUTHOR), found(ENCODING)];
  const message = end < 0 ? Buffer.alloc(0) : bytes.subarray(end + 2).filter(byte => byte !== 0);
  return {
    author: author === undefined ? undefined : Buffer.from(author, 'latin1'),
    ...(encoding === undefined ? {} : { encoding: Buffer.from(encoding, 'latin1') }),
    message: Buffer.from(message),
  };
}

/** The author line for a commit whose message is UTF-8. Bytes in another encoding are taken for Latin-1. */
export function authorInUtf8({ author }: Authorship): Buffer | undefined {
  return author === undefined || isUtf8(author) ? author : Buffer.from(author.toString('latin1'));
}
