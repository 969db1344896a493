import fs, { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createLooseRefs } from '../../../src/git/remote/loose-refs.ts';

const [ONE, TWO, THREE] = ['1'.repeat(40), '2'.repeat(40), '3'.repeat(40)];
const { readFileSync } = fs;

let folder: string;
let file: string;
/** Contents of files that were read. */
let reads = 0;
let at = 0;
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'gatehouse-loose-'));
  file = path.join(folder, 'main');
  [reads, at] = [0, 0];
  fs.readFileSync = ((...args: Parameters<typeof readFileSync>) => {
    reads += 1;
    return readFileSync(...args);
  }) as typeof readFileSync;
  syncBuiltinESMExports();
});
afterEach(() => {
  fs.readFileSync = readFileSync;
  syncBuiltinESMExports();
  rmSync(folder, { recursive: true });
});

/** As git does. */
function move(commit: string): void {
  writeFileSync(`${file}.lock`, `${commit}\n`);
  renameSync(`${file}.lock`, file);
}

describe('a loose ref', () => {
  test('is read twice, the second time a while after the first, and then only when it has changed', () => {
    const refs = createLooseRefs(() => at);
    move(ONE);
    expect([refs.read(file), refs.read(file)]).toEqual([ONE, ONE]);
    expect(reads).toBe(2);
    at = 100;
    expect([refs.read(file), refs.read(file), refs.read(file)]).toEqual([ONE, ONE, ONE]);
    expect(reads).toBe(3);
    move(TWO);
    expect(refs.read(file)).toBe(TWO);
  });

  test('is read again for as long as a write within one step of the clock could leave the same times', () => {
    const refs = createLooseRefs(() => at);
    for (const commit of [ONE, TWO, THREE, ONE, TWO]) {
      move(commit);
      expect(refs.read(file)).toBe(commit);
    }
    expect(reads).toBe(5);
  });

  test('that was written in place is noticed', () => {
    const refs = createLooseRefs(() => at);
    move(ONE);
    refs.read(file);
    at = 100;
    refs.read(file);
    fs.utimesSync(file, 1, 1);
    writeFileSync(file, `${TWO}\n`);
    expect(refs.read(file)).toBe(TWO);
  });

  test('that was deleted, or holds something else, is not remembered', () => {
    const refs = createLooseRefs(() => at);
    move(ONE);
    refs.read(file);
    at = 100;
    refs.read(file);
    rmSync(file);
    expect(refs.read(file)).toBeUndefined();
    writeFileSync(file, 'ref: refs/heads/other\n');
    expect(refs.read(file)).toBe('not-plain');
    move(THREE);
    expect(refs.read(file)).toBe(THREE);
  });
});
