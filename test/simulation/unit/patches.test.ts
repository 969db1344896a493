import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { edited } from '../patches/apply.ts';
import { PATCHES } from '../patches/table.ts';

const ROOT = path.resolve(import.meta.dirname, '../../..');

describe('the patches that break rules', () => {
  test('are many, each with a name of its own', () => {
    expect(PATCHES.length).toBeGreaterThanOrEqual(15);
    expect(new Set(PATCHES.map(patch => patch.name)).size).toBe(PATCHES.length);
  });

  test.each(PATCHES)('fit the source: $name', async ({ edits }) => {
    for (const edit of edits) {
      const source = await readFile(path.join(ROOT, edit.file), 'utf8');
      expect(edited(source, edit)).not.toBe(source);
    }
  });

  test('say so loudly when they do not fit', () => {
    const edit = { file: 'a.ts', find: 'x', replace: 'y' };
    expect(() => edited('no such letter', edit)).toThrow('0 times in a.ts');
    expect(() => edited('x x', edit)).toThrow('2 times in a.ts');
  });
});
