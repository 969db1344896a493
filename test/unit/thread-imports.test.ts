/**
 * What processes and threads load. A service starts a thread for each tenant and three for the history. What they import is loaded once more in each of them:
 * kysely takes 0.1 s of processor time.
 */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';

const root = path.resolve(import.meta.dirname, '../..');

/** Packages that are loaded with the files. */
function packagesOf(...entries: readonly string[]): readonly string[] {
  return loadedWith(entries).packages;
}

/** Files of ours that are loaded with a file. */
function filesOf(entry: string): readonly string[] {
  return loadedWith([entry]).files;
}

function loadedWith(entries: readonly string[]) {
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
  return {
    files: [...files],
    packages: [...packages].filter(name => !name.startsWith('node:')).toSorted(),
  };
}

test.each(['reading', 'writing'])('a thread that is %s the history loads no package', how => {
  expect(packagesOf(`src/history/${how}-thread.ts`)).toEqual([]);
});

const DRIVERS = ['gerrit', 'git', 'github'];

test('the threads that build layouts load YAML and expressions, and nothing that opens a connection', () => {
  const languages = DRIVERS.map(driver => `drivers/${driver}/languages.ts`);
  expect(packagesOf('src/cmd/service/layout-thread.ts', ...languages)).toEqual([
    'croner',
    'js-yaml',
    're2js',
  ]);
});

test('a process and a thread load the table of drivers, and of a driver only what a connection names', () => {
  for (const entry of ['src/cmd/service/service.ts', 'src/cmd/service/layout-thread.ts', 'drivers/index.ts'])
    expect(filesOf(entry).filter(file => /^drivers\/.*\//.test(file))).toEqual([]);
  expect(filesOf('src/cmd/service/service.ts')).toContain('drivers/index.ts');
});

test('the history itself is found to load kysely', () => {
  expect(packagesOf('src/history/history.ts')).toContain('kysely');
});

test('a command that asks a service loads no service, no history and no sender', () => {
  expect(packagesOf('src/cmd/main.ts')).toEqual([
    '@octokit/core',
    'commander',
    'jose',
    'node-zookeeper-client',
  ]);
});

test('records of the store are checked without a package', () => {
  expect(packagesOf('src/model/codec/records.ts')).toEqual([]);
});

test.each([
  ['merger', []],
  ['executor', ['js-yaml', 're2js', 'ssh2']],
  ['scheduler', ['js-yaml', 're2js', 'typebox']],
])('a process that runs a %s loads no other component', (name, packages) => {
  const own = packagesOf(`src/cmd/service/start-${name}.ts`);
  expect(own.map(each => each.replace(/^typebox\/.*/, 'typebox'))).toEqual(expect.arrayContaining(packages));
  for (const others of ['kysely', 'pg', 'express'])
    expect(packagesOf('src/cmd/service/service.ts', `src/cmd/service/start-${name}.ts`)).not.toContain(
      others,
    );
});

test('a process loads the packages of a host only for a connection to it', () => {
  const whole = packagesOf('src/cmd/service/service.ts');
  for (const [driver, name] of [
    ['gerrit', 'ssh2'],
    ['github', '@octokit/webhooks'],
  ] as const) {
    expect(packagesOf(`drivers/${driver}/connection.ts`)).toContain(name);
    expect(whole).not.toContain(name);
  }
});

test('nothing imports a value from node:http, which would load what fetch is made of', () => {
  const importing = ['src', 'drivers']
    .flatMap(part =>
      readdirSync(path.join(root, part), { recursive: true, encoding: 'utf8' }).map(
        name => `${part}/${name}`,
      ),
    )
    .filter(name => name.endsWith('.ts'))
    .filter(name =>
      /^import (?!type )[^;]*from '(?:node:)?http';/m.test(readFileSync(path.join(root, name), 'utf8')),
    );
  expect(importing).toEqual([]);
});
