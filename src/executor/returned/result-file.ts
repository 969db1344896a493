/** The file that `$GATEHOUSE_RETURN` names; `parse-returned.ts` has its format. */
import { join } from 'node:path';
import { openPlainFile } from '../open-plain-file.ts';

/** Below the build's work directory, where Zuul has it, too. */
export const RESULT_FILE = 'results.json';

/** Bytes that are read: of what a build returns, far less is kept. */
const MOST_READ = 262_144;

/** What a build has returned so far. */
export type ReturnedText =
  | { readonly kind: 'text'; readonly text: string }
  /** Longer than is read. */
  | { readonly kind: 'too-long' };

/** @param work the build's work directory. @throws an error of the file system. */
export async function readResultFile(work: string): Promise<ReturnedText> {
  const file = await openPlainFile(join(work, RESULT_FILE));
  if (file === undefined) return { kind: 'text', text: '' };
  try {
    const buffer = Buffer.alloc(MOST_READ + 1);
    let length = 0;
    while (length < buffer.length) {
      const { bytesRead } = await file.read(buffer, length, buffer.length - length);
      if (bytesRead === 0) break;
      length += bytesRead;
    }
    if (length > MOST_READ) return { kind: 'too-long' };
    return { kind: 'text', text: buffer.toString('utf8', 0, length) };
  } finally {
    await file.close();
  }
}
