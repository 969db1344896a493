/** A folder of more than twelve files has a map: a head comment, a README, or the README of the room it is in, that names each of its files. */
import { existsSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { filesBelow, ROOT, textOf } from './repository-text.ts';

const MOST_WITHOUT_MAP = 12;

const files = ['src', 'drivers'].flatMap(place => filesBelow(place, '.ts'));
const folders = [...Map.groupBy(files, file => path.dirname(file))]
  .filter(([, held]) => held.length > MOST_WITHOUT_MAP)
  .map(([folder, held]) => ({ folder, held }));

/** Everything in front of the first import, or the README. */
function headOf(file: string): string {
  const text = textOf(file);
  return file.endsWith('.md') ? text : (/^\/\*\*[\s\S]*?\*\//.exec(text)?.[0] ?? '');
}

/** What a map does not name, with or without its ending, or as `*-route`. The file that has the map need not name itself. */
function unnamed(map: string, held: readonly string[]): readonly string[] {
  const words = headOf(map).match(/[\w*.-]+/g) ?? [];
  const names = new Set(words.map(word => word.replace(/\.+$/, '').replace(/\.ts$/, '')));
  const patterns = [...names]
    .filter(name => name.includes('*') && name.length > 3)
    .map(name => new RegExp(`^${name.split('*').map(RegExp.escape).join('[\\w-]*')}$`));
  return held
    .filter(file => file !== map)
    .map(file => path.basename(file, '.ts'))
    .filter(name => !names.has(name) && !patterns.some(pattern => pattern.test(name)));
}

describe('a map names every file', () => {
  test.each(folders)('of $folder', ({ folder, held }) => {
    const above = path.dirname(folder);
    const maps = [...held, `${folder}/README.md`, `${above}/README.md`, `${above}/records.ts`];
    const [best] = maps
      .filter(map => existsSync(path.join(ROOT, map)))
      .map(map => ({ map, missing: unnamed(map, held) }))
      .toSorted((a, b) => a.missing.length - b.missing.length);
    expect(best?.missing, `to be named in the head comment of ${best?.map}`).toEqual([]);
  });

  test('in at least twenty folders', () => {
    expect(folders.length).toBeGreaterThan(20);
  });
});
