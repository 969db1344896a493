import {
  chownSync,
  lchownSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { giveToService } from '../../../src/executor/give-to-service.ts';

const USER = 65_534;

/** Of another user: a folder in a folder, `files` files, and a link to a file outside. */
function makeTree(files: number): { readonly tree: string; readonly outside: string } {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-give-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const [tree, outside] = [join(folder, 'tree'), join(folder, 'outside')];
  mkdirSync(join(tree, 'a/b'), { recursive: true });
  for (let file = 0; file < files; file++) writeFileSync(join(tree, 'a/b', `${file}`), '');
  writeFileSync(outside, '');
  chownSync(outside, USER, USER);
  symlinkSync(outside, join(tree, 'a/link'));
  for (const path of ['', ...readdirSync(tree, { recursive: true, encoding: 'utf8' })])
    lchownSync(join(tree, path), USER, USER);
  return { tree, outside };
}

function ownersIn(tree: string): ReadonlySet<string> {
  const all = ['', ...readdirSync(tree, { recursive: true, encoding: 'utf8' })];
  return new Set(all.map(path => lstatSync(join(tree, path))).map(({ uid, gid }) => `${uid}:${gid}`));
}

describe.runIf(process.getuid?.() === 0)('a tree that is given to the service (by root)', () => {
  test('is given without a process where it is small: links themselves, and not what they lead to', async () => {
    const { tree, outside } = makeTree(20);
    await giveToService({ system: () => expect.unreachable() }, tree);
    expect(ownersIn(tree)).toEqual(new Set(['0:0']));
    expect(lstatSync(outside).uid).toBe(USER);
  });

  test('is left to chown where it is large, or something in it refuses', async () => {
    const asked: (readonly string[])[] = [];
    const own = {
      async system(argv: readonly string[]) {
        asked.push(argv);
        return '';
      },
    };
    const { tree } = makeTree(400);
    await giveToService(own, tree);
    await giveToService(own, '/no/such/tree');
    expect(asked).toEqual([
      ['chown', '-R', '-h', '0:0', '--', tree],
      ['chown', '-R', '-h', '0:0', '--', '/no/such/tree'],
    ]);
  });
});
