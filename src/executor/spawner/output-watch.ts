/**
 * Finds the first line of a job's output that matches one of its `failure-output`.
 *
 * The output is a stranger's, and the process that reads it reads that of other jobs, too. So expressions are those of RE2, only the
 * beginning of a line is looked at, and the loop is left after every few milliseconds; meanwhile the job waits to print more.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Regex } from '../../lib/regex.ts';

/** Bytes of a line that are matched. */
const MOST_OF_LINE = 4096;
/** Milliseconds of matching before others get a turn. */
const SLICE_MS = 10;

/** Matches the lines in their order, until one matches. @param lines without newline. */
export type OutputWatch = (lines: readonly Buffer[]) => Promise<void>;

/** @param onMatch called once, with the text of the first expression that matches. */
export async function createOutputWatch(
  sources: readonly string[],
  onMatch: (source: string) => void,
): Promise<OutputWatch> {
  // Loaded for jobs that need it: the process is small, and starts with every executor.
  const { compileRegex } = await import('../../lib/regex.ts');
  let regexes: readonly Regex[] = sources.flatMap(source => {
    const regex = compileRegex(source);
    // Layouts refuse it. A later release may write what this one does not know: then it matches nothing here.
    return regex.kind === 'regex' ? [regex] : [];
  });
  return async lines => {
    let turn = performance.now();
    for (const line of lines) {
      if (regexes.length === 0) return;
      const text = line.toString('utf8', 0, MOST_OF_LINE);
      const found = regexes.find(regex => regex.test(text));
      if (found !== undefined) {
        regexes = [];
        onMatch(found.source);
      }
      if (performance.now() - turn < SLICE_MS) continue;
      await nextTurn();
      turn = performance.now();
    }
  };
}
