import { describe, expect, test } from 'vitest';
import { fileCommentsOf, mappedComments } from '../../../src/executor/returned/file-comments.ts';
import { parseReturned } from '../../../src/executor/returned/parse-returned.ts';
import { projectAt } from './fixture.ts';

const TESTED = 'a'.repeat(40);
const OWN = 'b'.repeat(40);
const request = {
  zuul: { commit_id: OWN, project: { canonical_name: projectAt(TESTED).canonicalName } },
  projects: [projectAt(TESTED)],
};
const repositories = {
  fileLines: async (_: unknown, commit: string, path: string) =>
    path === 'f' ? (commit === TESTED ? ['x', 'a', 'new', 'b', 'c'] : ['a', 'b', 'c']) : undefined,
};
const at = (line: number, file = 'f') => ({ file, line, level: 'warning', message: 'm' }) as const;

describe('comments on lines', () => {
  test('are those of the change as proposed, or the nearest before, or as they are where that is not known', async () => {
    const given = [at(2), at(3), at(4), at(99), at(1), at(7, 'absent')];
    const lines = (await mappedComments(given, request, repositories)).map(({ line }) => line);
    expect(lines).toEqual([1, 1, 2, 3, 1, 7]);
  });

  test('keep a range that is still as long, and lose it otherwise', async () => {
    const range = { startLine: 4, startCharacter: 1, endLine: 5, endCharacter: 2 };
    const [whole] = await mappedComments([{ ...at(4), range }], request, repositories);
    expect(whole?.range).toEqual({ ...range, startLine: 2, endLine: 3 });
    const [torn] = await mappedComments(
      [{ ...at(4), range: { ...range, startLine: 2 } }],
      request,
      repositories,
    );
    expect(torn).toEqual(at(2));
  });

  test('are bounded and checked one by one', () => {
    const warnings: string[] = [];
    const many = Array.from({ length: 150 }, (_, line) => ({ line, message: 'x'.repeat(3_000) }));
    const range = { start_line: 2, start_character: 0, end_line: 3, end_character: 4 };
    const found = fileCommentsOf(
      {
        file_comments: {
          g: [
            { message: 'ranged', level: 'info', range },
            { line: 1, message: 1 },
          ],
          f: many,
        },
      },
      warnings,
    );
    expect(found).toHaveLength(100);
    expect(found[0]).toMatchObject({ file: 'g', line: 3, level: 'info', range: { startLine: 2 } });
    expect(found[1]?.message).toHaveLength(2_000);
    expect(warnings).toEqual([
      '2 of zuul.file_comments are malformed; they are ignored',
      'of 150 comments in zuul.file_comments the first 100 are kept',
    ]);
  });

  test('of one file are joined over several returns', () => {
    const line = (n: number) =>
      JSON.stringify({ data: { zuul: { file_comments: { f: [{ line: n, message: 'm' }] } } } });
    expect(parseReturned([line(1), line(2)].join('\n')).returned.fileComments).toEqual([at(1), at(2)]);
  });
});
