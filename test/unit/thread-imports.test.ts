/**
 * A service starts a thread for each tenant and two that read the history. What they import is loaded once more in each of them:
 * kysely takes 0.1 s of processor time, and so does typebox.
 */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';

const root = path.resolve(import.meta.dirname, '../..');

/** Packages and built-in modules that are loaded with a file. */
function packagesOf(...entries: readonly string[]): readonly string[] {
  const packages = new Set<string>();
  const files = new Set(entries);
  // Grows while it is iterated.
  for (const file of files) {
    const text = readFileSync(path.join(root, file), 'utf8');
    for (const [, specifier = ''] of text.matchAll(/^(?:import|export) (?!type )[^;]*?from '([^']+)';/gm)) {
      if (specifier.startsWith('.')) files.add(path.join(path.dirname(file), specifier));
      else packages.add(specifier);
    }
  }
  return [...packages].filter(name => !name.startsWith('node:')).toSorted();
}

test('the threads that read the history load no package', () => {
  expect(packagesOf('src/history/reading-thread.ts')).toEqual([]);
});

test('the threads that build layouts load YAML and expressions, and nothing that opens a connection', () => {
  expect(packagesOf('src/cmd/service/layout-thread.ts', 'drivers/languages.ts')).toEqual([
    'js-yaml',
    're2js',
  ]);
});

test('the thread that writes the history is found to load kysely', () => {
  expect(packagesOf('src/history/history-thread.ts')).toContain('kysely');
});
