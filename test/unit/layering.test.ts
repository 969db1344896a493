/** The rooms import one another only as `doc/architecture.md` says, and never in a cycle. */
import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';

const root = path.resolve(import.meta.dirname, '../..');
const sources = ['src', 'drivers'].flatMap(top =>
  readdirSync(path.join(root, top), { recursive: true, encoding: 'utf8' })
    .filter(file => file.endsWith('.ts'))
    .map(file => path.join(top, file)),
);

/** `src/store/fence.ts` → `store`; `drivers/git/index.ts` → `drivers`. */
function roomOf(file: string): string {
  const [top, room = ''] = file.split(path.sep);
  return top === 'drivers' ? 'drivers' : room;
}

interface Import {
  readonly from: string;
  /** Repository path, or a package name. */
  readonly to: string;
  readonly typesOnly: boolean;
}

/** `{@link import('<file>')}` in a comment imports nothing. */
function withoutComments(text: string): string {
  return text.replaceAll(/^\s*\/?\*.*$/gm, '').replaceAll(/^\s*\/\/.*$/gm, '');
}

function importsOf(file: string): Import[] {
  const text = withoutComments(readFileSync(path.join(root, file), 'utf8'));
  const specifiers = [
    ...text.matchAll(/^\s*(?:import|export)\b[^;]*?\bfrom\s+'([^']+)'/gm),
    ...text.matchAll(/\bimport\(\s*'([^']+)'/g),
  ];
  return specifiers.map(([statement, specifier = '']) => ({
    from: file,
    typesOnly: /^\s*(?:import|export) type\b/.test(statement),
    to: specifier.startsWith('.') ? path.normalize(path.join(path.dirname(file), specifier)) : specifier,
  }));
}

/** Rows of the table in doc/architecture.md: | `src/room/` | owns | may import | */
function allowedImports(): Map<string, Set<string> | 'everything'> {
  const text = readFileSync(path.join(root, 'doc/architecture.md'), 'utf8');
  const rows = [...text.matchAll(/^\| `(?:src\/([a-z]+)|(drivers))\/` \|.*\| ([^|]+) \|$/gm)];
  return new Map(
    rows.map(([, room, drivers, may = '']) => {
      const words = may.trim();
      return [
        room ?? drivers ?? '',
        words === 'everything' ? 'everything' : new Set(words === 'nothing' ? [] : words.split(' ')),
      ];
    }),
  );
}

/** First cells of the table in a room's README: folders, from those that import nothing of the room to the room's own files (`.`). */
function foldersInOrder(room: string): string[] {
  const text = readFileSync(path.join(root, room, 'README.md'), 'utf8');
  return [...text.matchAll(/^\| `([a-z]+|\.)\/?` \|/gm)].map(([, folder = '']) => folder);
}

const imports = sources.flatMap(importsOf);
const allowed = allowedImports();

describe('the rooms', () => {
  test('are all in the import table', () => {
    const rooms = new Set(sources.map(roomOf));
    expect([...rooms].filter(room => !allowed.has(room))).toEqual([]);
  });

  test('import only what the table allows', () => {
    const wrong = imports.filter(({ from, to }) => {
      if (!to.startsWith('src') && !to.startsWith('drivers')) return false;
      const [mine, other] = [roomOf(from), roomOf(to)];
      const may = allowed.get(mine);
      return mine !== other && may !== 'everything' && !may?.has(other);
    });
    expect(wrong.map(({ from, to }) => `${from} imports ${to}`)).toEqual([]);
  });

  test('leave @opentelemetry to the tracing room', () => {
    const wrong = imports.filter(
      ({ from, to }) => to.startsWith('@opentelemetry/') && roomOf(from) !== 'tracing',
    );
    expect(wrong.map(({ from }) => from)).toEqual([]);
  });

  test('leave spawning git to the git room', () => {
    const spawners = imports.filter(({ to }) => to === 'node:child_process').map(({ from }) => roomOf(from));
    expect([...new Set(spawners)].filter(room => !['git', 'executor', 'cmd'].includes(room))).toEqual([]);
  });

  test('leave the page to itself: it loads four pure files, and knows documents by their types', () => {
    const loaded = [
      'model/item-states.ts',
      'model/page-place.ts',
      'lib/log-line.ts',
      'lib/terminal-sequences.ts',
    ];
    const page = path.join('src', 'web', 'page') + path.sep;
    const wrong = imports.filter(({ from, to, typesOnly }) => {
      if (!from.startsWith(page) || to.startsWith(page)) return false;
      return !loaded.some(file => to === path.join('src', file)) && !(typesOnly && roomOf(to) === 'api');
    });
    expect(wrong.map(({ from, to }) => `${from} imports ${to}`)).toEqual([]);
    expect(imports.filter(({ from, to }) => to.startsWith(page) && !from.startsWith(page))).toEqual([]);
  });

  test('compile, the page with the types of a browser', { timeout: 300_000 }, async () => {
    const tsc = path.join(root, 'node_modules/typescript/bin/tsc');
    const run = promisify(execFile)(process.execPath, [tsc, '--noEmit', '--project', 'src/web/page'], {
      cwd: root,
    });
    expect(await run.catch((error: { readonly stdout: string }) => error)).toMatchObject({ stdout: '' });
  });

  test.each(['git', 'layout'])('import downwards within %s, as its README has the folders', room => {
    const base = path.join('src', room);
    const order = foldersInOrder(base);
    const place = (file: string) => order.indexOf(path.relative(base, file).split(path.sep).at(-2) ?? '.');
    const own = imports.filter(({ from, to }) => roomOf(from) === room && to.startsWith(base + path.sep));
    expect(order.length).toBeGreaterThan(5);
    expect(sources.filter(file => roomOf(file) === room && place(file) < 0)).toEqual([]);
    const wrong = own.filter(({ from, to }) => place(to) > place(from));
    expect(wrong.map(({ from, to }) => `${from} imports ${to}`)).toEqual([]);
  });

  test('have no import cycles between files', () => {
    expect(cyclesOf(imports.filter(({ to }) => to.endsWith('.ts')))).toEqual([]);
  });
});

function cyclesOf(edges: readonly Import[]): string[] {
  const targets = new Map<string, string[]>();
  for (const { from, to } of edges) targets.set(from, [...(targets.get(from) ?? []), to]);
  const state = new Map<string, 'open' | 'done'>();
  const cycles: string[] = [];
  const visit = (file: string, trail: readonly string[]): void => {
    if (state.get(file) === 'done') return;
    if (state.get(file) === 'open') {
      cycles.push([...trail.slice(trail.indexOf(file)), file].join(' → '));
      return;
    }
    state.set(file, 'open');
    for (const next of targets.get(file) ?? []) visit(next, [...trail, file]);
    state.set(file, 'done');
  };
  for (const file of targets.keys()) visit(file, []);
  return cycles;
}
