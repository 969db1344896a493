/** What is counted without a process is what `du` and `find` count. */
import { execFileSync } from 'node:child_process';
import { linkSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { smallUsage } from '../../../src/executor/small-usage.ts';

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'gatehouse-usage-'));
});
afterEach(() => rmSync(root, { recursive: true }));

function byProcesses(roots: readonly string[]) {
  const du = execFileSync('du', ['-s', '--total', '--block-size=1', '--one-file-system', '--', ...roots]);
  const find = execFileSync('find', [...roots, '-xdev', '-mindepth', '1', '-printf', '.']);
  return { bytes: Number(/^(\d+)\ttotal$/m.exec(du.toString())?.[1]), files: find.length };
}

describe('the usage of a few files', () => {
  test('is what du and find say: files, directories, links, and files with two names', () => {
    const [one, two] = [join(root, 'one'), join(root, 'two')];
    mkdirSync(join(one, 'below/deep'), { recursive: true });
    mkdirSync(two);
    writeFileSync(join(one, 'large'), Buffer.alloc(100_000, 1));
    writeFileSync(join(one, 'below/deep/empty'), '');
    linkSync(join(one, 'large'), join(one, 'below/again'));
    symlinkSync('/usr', join(two, 'elsewhere'));
    const usage = smallUsage([one, two]);
    expect(usage).toEqual(byProcesses([one, two]));
    expect(usage?.files).toBe(6);
    expect(usage?.bytes).toBeGreaterThanOrEqual(100_000);
  });

  test('leaves out a directory that is missing', () => {
    expect(smallUsage([join(root, 'none')])).toEqual({ bytes: 0, files: 0 });
  });

  test('is left to processes from some hundred files on, and where a directory was replaced', () => {
    mkdirSync(join(root, 'many'));
    for (let file = 0; file < 300; file++) writeFileSync(join(root, 'many', `${file}`), '');
    expect(smallUsage([join(root, 'many')])?.files).toBe(300);
    writeFileSync(join(root, 'many/one more'), '');
    expect(smallUsage([join(root, 'many')])).toBeUndefined();
    symlinkSync('/usr', join(root, 'link'));
    expect(smallUsage([join(root, 'link')])).toBeUndefined();
  });
});
