/** A file named in a comment exists: readers follow these names. */
import { existsSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { filesBelow, ROOT, textOf } from './repository-text.ts';

const FOLDERS = ['src', 'drivers', 'test', 'scripts', 'bin'];
const SOURCES = FOLDERS.flatMap(folder =>
  ['.ts', '.js', '.mjs'].flatMap(ending => filesBelow(folder, ending)),
);

/** Comments only; a URL's slashes do not begin one. */
const COMMENT = /^\s*\/\*.*?\*\/|(?<![:'"`\w])\/\/ [^\n]*/gms;
/** `turn-commit.ts`, `src/pipeline/turn.ts`; not `*.ts`, `<name>.ts`, `{a,b}.ts`. */
const FILE_NAME = /(?<![\w*<>{},.])[\w./-]*\w\.(?:ts|mjs)(?![\w-]|\.\w)/g;

const filesNamedIn = (source: string) =>
  [...textOf(source).matchAll(COMMENT)].flatMap(([comment]) => comment.match(FILE_NAME) ?? []);

/** Whether the name is a repository path, a path beside the source, or the end of one. */
function exists(name: string, source: string): boolean {
  if (existsSync(path.join(ROOT, name)) || existsSync(path.join(ROOT, path.dirname(source), name)))
    return true;
  return !name.startsWith('.') && SOURCES.some(file => file.endsWith(`/${name}`));
}

test('comments name files that exist', () => {
  const named = SOURCES.flatMap(source => filesNamedIn(source).map(name => ({ source, name })));
  expect(named.length).toBeGreaterThan(100);
  expect(named.filter(({ source, name }) => !exists(name, source))).toEqual([]);
});
