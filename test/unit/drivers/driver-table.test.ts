/** The table of drivers, and that a driver is one folder and one entry of that table. */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { drivers, messengers } from '../../../drivers/index.ts';

const root = path.resolve(import.meta.dirname, '../../..');
const sources = ['src', 'drivers'].flatMap(top =>
  readdirSync(path.join(root, top), { recursive: true, encoding: 'utf8' })
    .filter(file => file.endsWith('.ts'))
    .map(file => path.join(top, file)),
);

const all = [...drivers, ...messengers];

/** Commands for one kind of host: the demo's hosts, a first gate for the git driver, and what creates a GitHub App. The service loads none of them. */
const ABOUT_ONE_HOST = ['src/cmd/quickstart/', 'src/cmd/init/', 'src/cmd/github/'];

test('the table has every folder of a driver, in any order', () => {
  const folders = readdirSync(path.join(root, 'drivers'), { withFileTypes: true })
    .filter(entry => entry.isDirectory())
    .map(({ name }) => name);
  expect(all.map(({ name }) => name).toSorted()).toEqual(folders.toSorted());
});

test.each(all)('the entry of $name loads the driver of that name, and its language', async entry => {
  const driver = await entry.load();
  const languages = await entry.loadLanguages();
  expect([driver.name, languages.name]).toEqual([entry.name, entry.name]);
  expect(driver.config).toBe(languages.config);
});

test.each(all)('one file outside the folder of $name imports it: the table', ({ name }) => {
  const folder = path.join('drivers', name) + path.sep;
  const outside = sources.filter(
    file =>
      !file.startsWith(folder) &&
      !ABOUT_ONE_HOST.some(place => file.startsWith(place)) &&
      [...readFileSync(path.join(root, file), 'utf8').matchAll(/\b(?:from|import\() ?'(\.[^']+)'/g)].some(
        ([, specifier = '']) => path.join(path.dirname(file), specifier).startsWith(folder),
      ),
  );
  expect(outside).toEqual(['drivers/index.ts']);
});
