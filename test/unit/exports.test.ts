/** Every exported name has one home: a search, or an editor's completion, finds one thing. */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';

const root = path.resolve(import.meta.dirname, '../..');
const sources = ['src', 'drivers'].flatMap(top =>
  readdirSync(path.join(root, top), { recursive: true, encoding: 'utf8' })
    .filter(file => file.endsWith('.ts'))
    .map(file => path.join(top, file)),
);

const DECLARATION =
  /^export (?:declare )?(?:abstract )?(?:async )?(?:function\*?|const enum|const|let|class|interface|type|enum) ([\w$]+)/gm;

/**
 * Two vocabularies that describe data: `text`, `list`, `nullable` … of the API's documents and of stored records. They mean the
 * same in both, and a file that describes data uses one of them.
 */
const VOCABULARIES: ReadonlySet<string> = new Set(['src/api/schema.ts', 'src/model/codec/schema.ts']);

/** Names a file declares and exports; a name passed on from another file stays that file's. */
function exportsOf(file: string): readonly string[] {
  const text = readFileSync(path.join(root, file), 'utf8');
  // An overloaded function is declared more than once.
  return [...new Set([...text.matchAll(DECLARATION)].map(([, name = '']) => name))];
}

test('no name is exported by two files', () => {
  const files = Map.groupBy(
    sources.flatMap(file => exportsOf(file).map(name => ({ name, file }))),
    ({ name }) => name,
  );
  const twice = [...files].filter(
    ([, homes]) => homes.length > 1 && !homes.every(({ file }) => VOCABULARIES.has(file)),
  );
  expect(files.size).toBeGreaterThan(1000);
  expect(twice.map(([name, homes]) => `${name}: ${homes.map(({ file }) => file).join(', ')}`)).toEqual([]);
});

/** What others build on: drivers, stored records, stores, clients of the API. */
const CONTRACTS = /^src\/(?:driver|model|api)\/|^src\/store\/port\.ts$/;

test('every export of a contract has a comment that says what it is', () => {
  const bare = sources
    .filter(file => CONTRACTS.test(file))
    .flatMap(file => {
      const lines = readFileSync(path.join(root, file), 'utf8').split('\n');
      return lines.flatMap((line, index) =>
        [...line.matchAll(DECLARATION)]
          .filter(([, name = '']) => !lines[index - 1]?.endsWith('*/') && !isOverload(lines, index, name))
          .map(([, name = '']) => `${file}: ${name}`),
      );
    });
  expect(bare).toEqual([]);
});

/** Its first declaration has the comment. */
function isOverload(lines: readonly string[], index: number, name: string): boolean {
  return lines
    .slice(0, index)
    .some(line => [...line.matchAll(DECLARATION)].some(([, other]) => other === name));
}

test('what a file exports is declared where it is exported', () => {
  // `export { a }` and `export default` would hide names from the test above.
  const hidden = sources.filter(file =>
    /^export (?:default|\*|(?:type )?\{(?![^}]*\} from ))/m.test(readFileSync(path.join(root, file), 'utf8')),
  );
  expect(hidden).toEqual([]);
});
