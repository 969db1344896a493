/**
 * Repositories of a few kilobytes that show 10^n paths: each directory holds ten names for one and the same directory below.
 *
 *     const bomb = await gitBomb(repository.path, 10);        // tree with 10^10 files
 */
import { createObjectWriter } from '../../../src/git/objects/object-writer.ts';
import { runGit } from '../../fake/git-repository.ts';

/** @returns the id of a tree, made in the repository, with `levels` levels of ten shared directories; files at the bottom. */
export async function gitBomb(path: string, levels: number): Promise<string> {
  const blob = await text(path, ['hash-object', '-w', '--stdin'], 'x\n');
  let below = await makeTree(path, '100644 blob', blob, '.yaml');
  for (let level = 1; level < levels; level += 1) below = await makeTree(path, '040000 tree', below, '');
  return below;
}

/** @returns the id of a tree of directories in directories. */
export async function deepTree(path: string, levels: number): Promise<string> {
  const blob = await text(path, ['hash-object', '-w', '--stdin'], 'x\n');
  let at = Buffer.concat([Buffer.from('100644 f\0'), Buffer.from(blob, 'hex')]);
  const writer = createObjectWriter(path);
  for (let level = 1; level < levels; level += 1)
    at = Buffer.concat([Buffer.from('40000 d\0'), Buffer.from(await writer.write('tree', at), 'hex')]);
  return writer.write('tree', at);
}

/** @returns the id of a tree of so many files. */
export async function wideTree(path: string, files: number): Promise<string> {
  const blob = await text(path, ['hash-object', '-w', '--stdin'], 'x\n');
  const lines = Array.from({ length: files }, (_, index) => `100644 blob ${blob}\tfile-${index}\n`);
  return text(path, ['mktree'], lines.join(''));
}

export interface BombEntry {
  readonly name: string;
  readonly mode: '040000' | '100644';
  readonly id: string;
}

/** Commits a tree that is the parent's with `entries` at its root; returns the commit. */
export async function commitWith(
  path: string,
  parent: string,
  entries: readonly BombEntry[],
  remove: readonly string[] = [],
): Promise<string> {
  const names = new Set([...remove, ...entries.map(({ name }) => name)]);
  const kept = (await text(path, ['ls-tree', parent]))
    .split('\n')
    .filter(line => line !== '' && !names.has(line.split('\t')[1] ?? ''));
  const added = entries.map(
    ({ name, mode, id }) => `${mode} ${mode === '040000' ? 'tree' : 'blob'} ${id}\t${name}`,
  );
  const tree = await text(path, ['mktree'], `${[...kept, ...added].join('\n')}\n`);
  return text(path, ['commit-tree', tree, '-p', parent, '-m', 'a heavy change']);
}

function makeTree(path: string, kind: string, id: string, suffix: string): Promise<string> {
  const lines = Array.from({ length: 10 }, (_, index) => `${kind} ${id}\t${index}${suffix}\n`);
  return text(path, ['mktree'], lines.join(''));
}

async function text(path: string, args: readonly string[], input = ''): Promise<string> {
  return (await runGit(path, args, input)).toString().trim();
}
