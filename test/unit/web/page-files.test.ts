/** What of our sources a browser can ask for. */
import { expect, test } from 'vitest';
import { pageFiles } from '../../../src/web/page-files.ts';

const files = await pageFiles();

test('the page is served with all its modules import, and nothing else below src', () => {
  const modules = [...files.keys()].filter(name => name.endsWith('.ts'));
  expect(modules).toContain('web/page/main.ts');
  expect(modules).toContain('web/page/live-worker.ts');
  expect(modules.filter(name => !name.startsWith('web/page/')).toSorted()).toEqual([
    'lib/log-line.ts',
    'lib/terminal-sequences.ts',
    'model/item-states.ts',
    'model/page-place.ts',
  ]);
  expect(
    [...files.keys()].filter(name => !name.endsWith('.ts')).every(name => /\.(css|svg)$/.test(name)),
  ).toBe(true);
});

test('modules are JavaScript: types are gone, and imports of types alone', () => {
  for (const [name, { type, text }] of files) {
    if (!name.endsWith('.ts')) continue;
    expect(type).toBe('js');
    expect(text, name).not.toMatch(/^\s*(?:export )?(?:interface|type) \w|import type/m);
  }
});
