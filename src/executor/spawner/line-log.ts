/**
 * A log file that grows line by line while others read it: every line starts with the time it ended, and at `limit`
 * bytes a line of the executor's replaces the rest (`src/lib/log-line.ts`).
 *
 *     2026-11-20 17:53:01.123456 | make: Entering directory '/build/src/example.org/app'
 *
 * Bytes are kept as they are (a log may have any encoding), except for carriage returns before a newline.
 */
import { type FileHandle, open } from 'node:fs/promises';
import { logStamp } from '../../lib/log-line.ts';
import { maskedBytes } from '../../lib/secret-masks.ts';
import type { OutputWatch } from './output-watch.ts';

const NEWLINE = 0x0a;
/** A line that never ends is cut here, so that it neither fills memory nor stays invisible. */
const MAX_LINE = 16 * 1024;

/** The output of one process in the log of its build. */
export interface LineLog {
  /** Resolves when the bytes are in the file: the caller waits, which is the back-pressure. */
  write(chunk: Buffer): Promise<void>;
  /** Writes the last unfinished line and closes the file. */
  close(): Promise<void>;
  /** Bytes written to the file, stamps included. */
  written(): number;
  /** The limit is reached: more output is dropped. */
  full(): boolean;
  /** The last line, without its stamp. */
  lastLine(): string;
}

/** Appends to the file. @param limit bytes this process may still write. @param masks texts of one line to write as `***`. @param watch sees the lines, masked, when they are in the file. @throws Error of the file system. */
export async function openLineLog(
  path: string,
  limit: number,
  now: () => Date,
  masks: readonly string[] = [],
  watch?: OutputWatch,
): Promise<LineLog> {
  const hidden = masks.map(mask => Buffer.from(mask));
  // A line that is cut must not cut a secret, which is then found in neither part.
  const beyond = Math.max(0, ...hidden.map(mask => mask.length));
  const file: FileHandle = await open(path, 'a', 0o644);
  let rest = Buffer.alloc(0);
  let written = 0;
  let full = false;
  let last = Buffer.alloc(0);

  async function append(lines: readonly Buffer[]): Promise<void> {
    if (full || lines.length === 0) return;
    last = Buffer.from(lines.at(-1) ?? '');
    const time = now();
    const stamp = Buffer.from(logStamp(time, 'job'));
    let bytes = Buffer.concat(lines.flatMap(line => [stamp, line, Buffer.from('\n')]));
    if (written + bytes.length > limit) {
      full = true;
      bytes = Buffer.concat([bytes.subarray(0, Math.max(0, limit - written)), marker(time, limit)]);
    }
    written += bytes.length;
    await file.appendFile(bytes);
    await watch?.(lines);
  }

  return {
    async write(chunk) {
      if (full) return;
      const { lines, tail } = splitLines(maskedBytes(Buffer.concat([rest, chunk]), hidden), beyond);
      rest = Buffer.from(tail);
      await append(lines);
    },
    async close() {
      const { lines, tail } = splitLines(rest, 0);
      await append(tail.length === 0 ? lines : [...lines, tail]);
      await file.close();
    },
    written: () => written,
    full: () => full,
    lastLine: () => last.toString(),
  };
}

/** @param beyond bytes that must be known behind a cut. */
function splitLines(
  bytes: Buffer,
  beyond: number,
): { readonly lines: readonly Buffer[]; readonly tail: Buffer } {
  const lines: Buffer[] = [];
  let start = 0;
  for (;;) {
    const end = bytes.indexOf(NEWLINE, start);
    if (end >= 0 && end - start <= MAX_LINE) {
      lines.push(withoutReturn(bytes.subarray(start, end)));
      start = end + 1;
    } else if (bytes.length - start > MAX_LINE + beyond) {
      lines.push(bytes.subarray(start, start + MAX_LINE));
      start += MAX_LINE;
    } else {
      return { lines, tail: bytes.subarray(start) };
    }
  }
}

function withoutReturn(line: Buffer): Buffer {
  return line.at(-1) === 0x0d ? line.subarray(0, -1) : line;
}

function marker(time: Date, limit: number): Buffer {
  const stamp = logStamp(time, 'executor');
  return Buffer.from(`\n${stamp}[output cut here: the limit of ${limit} bytes per build is reached]\n`);
}
