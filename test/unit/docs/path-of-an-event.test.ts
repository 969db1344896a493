/**
 * The path of one event, as the head comment of `src/model/event.ts` has it: a reader follows it without searching, and has few files
 * to open.
 */
import { existsSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { ROOT, textOf } from './repository-text.ts';

/** Files of one part of the path. */
const MOST = 20;

const [head = ''] = /\/\*\*[\s\S]*?\*\//.exec(textOf('src/model/event.ts')) ?? [];

/** `→`, `;` and the names between them; a name without a folder is in that of the name before. */
function readStages(text: string): {
  readonly files: readonly string[];
  readonly calls: readonly string[][];
} {
  const files: string[] = [];
  const calls: string[][] = [];
  let isCall = false;
  for (const [token] of text.matchAll(/→|;|[\w./-]+\.ts\b/g)) {
    if (token === '→' || token === ';') {
      isCall = token === '→';
      continue;
    }
    const before = files.at(-1);
    const file = token.includes('/') ? token : path.join(path.dirname(before ?? ''), token);
    if (isCall && before !== undefined) calls.push([before, file]);
    files.push(file);
    isCall = false;
  }
  return { files, calls };
}

/** Stages `from` to `to`. Lines that name no file name spans. */
function stages(from: number, to: number) {
  const lines = head.split('\n');
  const at = (start: string) => lines.findIndex(line => line.startsWith(start));
  const begin = at(` *  ${String(from).padStart(2)} `);
  const next = at(` *  ${String(to + 1).padStart(2)} `);
  const end = next < 0 ? at(' * Each step from stage to stage') : next;
  return readStages(
    lines
      .slice(begin, end)
      .filter(line => line.includes('.ts'))
      .join('\n'),
  );
}

describe.each([
  ['from a push to its item', 1, 5],
  ['from an item to its build request', 6, 9],
  ['from the end of a build to its exported spans', 10, 12],
] as const)('%s', (_, from, to) => {
  const { files, calls } = stages(from, to);

  test(`there are at most ${MOST} files to open`, () => {
    expect(new Set(files).size).toBeGreaterThan(10);
    expect(new Set(files).size).toBeLessThanOrEqual(MOST);
  });

  test('every file exists', () => {
    expect(files.filter(file => !existsSync(path.join(ROOT, file)))).toEqual([]);
  });

  test('an arrow leads to a file that the one before imports', () => {
    const missing = calls.filter(
      ([caller = '', called = '']) => !textOf(caller).includes(`/${path.basename(called)}'`),
    );
    expect(missing).toEqual([]);
  });
});
