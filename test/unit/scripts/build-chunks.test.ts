import { expect, test } from 'vitest';
import { type Module, namesOfChunks } from '../../../scripts/build-chunks.ts';

/** `imports`, `loads` at run time: names with a space between. */
function named(modules: Readonly<Record<string, { entry?: true; imports?: string; loads?: string }>>) {
  const list = (names = '') => names.split(' ').filter(Boolean);
  const graph = new Map<string, Module>(
    Object.entries(modules).map(([id, { entry = false, imports, loads }]) => [
      id,
      { isEntry: entry, imports: list(imports), loads: list(loads) },
    ]),
  );
  const name = namesOfChunks(graph);
  return Object.groupBy(graph.keys(), id => name(id) ?? `${id} alone`);
}

const chunks = (modules: Parameters<typeof named>[0]) =>
  Object.values(named(modules)).map(ids => ids?.join(' '));

test('what a program loads later does not part what it has loaded by then', () => {
  expect(
    chunks({
      main: { entry: true, imports: 'a b', loads: 'start' },
      a: {},
      b: { imports: 'a' },
      start: { imports: 'a c', loads: 'web merger' },
      c: {},
      web: { imports: 'a b c d e' },
      merger: { imports: 'c d f' },
      d: {},
      e: {},
      f: {},
    }),
  ).toEqual(['main', 'a b', 'start c', 'web e', 'merger f', 'd']);
});

test('what another program begins with is apart, and loads nothing else', () => {
  expect(
    chunks({
      main: { entry: true, imports: 'a b' },
      helper: { entry: true, imports: 'b' },
      a: {},
      b: {},
    }),
  ).toEqual(['main', 'helper', 'a', 'b']);
});

test('what one of several loaders lacks is not taken for loaded', () => {
  expect(
    chunks({
      main: { entry: true, imports: 'a', loads: 'late' },
      thread: { entry: true, loads: 'late' },
      a: {},
      late: { imports: 'a b' },
      b: {},
    }),
  ).toEqual(['main', 'thread', 'a', 'late b']);
});

test('an entry is alone: it may await what is loaded meanwhile', () => {
  const { 'main alone': alone } = named({ main: { entry: true, imports: 'a', loads: 'b' }, a: {}, b: {} });
  expect(alone).toEqual(['main']);
});

test('modules that load one another have chunks all the same', () => {
  expect(
    chunks({
      main: { entry: true, loads: 'x' },
      x: { imports: 'shared', loads: 'y' },
      y: { imports: 'shared own', loads: 'x' },
      shared: {},
      own: {},
    }),
  ).toEqual(['main', 'x shared', 'y own']);
});
