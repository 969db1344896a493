import { rm } from 'node:fs/promises';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { pathName } from '../../../src/git/disk/path-name.ts';
import { changedPaths } from '../../../src/git/objects/changed-paths.ts';
import { type ObjectId, parseObjectId } from '../../../src/git/objects/object-id.ts';
import { MissingObject } from '../../../src/git/objects/object-reader.ts';
import { parseTree, pathText } from '../../../src/git/objects/tree.ts';
import { createTreeBudget } from '../../../src/git/objects/tree-budget.ts';
import { createTreeSizes } from '../../../src/git/objects/tree-size.ts';
import { createByteFeed } from '../../../src/git/process/byte-reader.ts';
import { createGitRepository } from '../../fake/git-repository.ts';
import { IDENTITY, openRepository } from './open-repository.ts';

const NOWHERE = parseObjectId('1234567890123456789012345678901234567890');

describe('the object reader', () => {
  it('reads files by any path', async () => {
    await using repository = await createGitRepository();
    const names = [
      'plain',
      'dir/with\nnewline',
      'a "quoted" name',
      'ümlaut/ß',
      '-x',
      '$(id);`id`',
      'tab\there',
      'a missing',
      'd/e/f/g',
    ];
    const commit = parseObjectId(
      await repository.commit({ files: Object.fromEntries(names.map(name => [name, `content of ${name}`])) }),
    );
    await using open = openRepository(repository.path);
    for (const name of names) {
      const file = await open.reader.readPath(commit, name, 1000);
      expect(file.kind === 'file' && file.data.toString()).toBe(`content of ${name}`);
    }
  });

  it('knows what this process has written, without a question to git', async () => {
    await using repository = await createGitRepository();
    await using open = openRepository(repository.path);
    const blob = await open.writer.write('blob', Buffer.from('text'));
    const entry = Buffer.concat([Buffer.from('100644 file\0'), Buffer.from(blob, 'hex')]);
    const tree = await open.writer.write('tree', entry);
    const made = { tree, parents: [NOWHERE], identity: IDENTITY, date: 1_800_000_000, message: 'Merge' };
    const commit = await open.writer.writeCommit(made);
    expect(await open.reader.missing([blob, tree, commit])).toEqual([]);
    const found = await open.reader.commit(commit);
    expect((await open.reader.entry(found.tree, 'file'))?.id).toBe(blob);
    // git itself finds the same.
    expect(await repository.git('cat-file', '-p', `${commit}:file`)).toBe('text');
    // It is not read again, by any means.
    await rm(`${repository.path}/objects`, { recursive: true });
    expect(await open.reader.missing([blob, tree, commit])).toEqual([]);
    expect(await open.reader.commit(commit)).toEqual(found);
    expect((await open.reader.entry(tree, 'file'))?.id).toBe(blob);
    expect(open.reader.pid()).toBeUndefined();
  });

  it('says what else it finds: nothing, a directory, too much', async () => {
    await using repository = await createGitRepository();
    const commit = parseObjectId(
      await repository.commit({ files: { 'd/large': 'x'.repeat(300_000), 'd/small': 's' } }),
    );
    await using open = openRepository(repository.path);
    expect(await open.reader.readPath(commit, 'no', 10)).toEqual({ kind: 'missing' });
    expect(await open.reader.readPath(commit, 'd/small/x', 10)).toEqual({ kind: 'missing' });
    expect(await open.reader.readPath(commit, '../d', 10)).toEqual({ kind: 'missing' });
    expect(await open.reader.readPath(commit, 'd', 10)).toEqual({ kind: 'not-a-file', is: 'directory' });
    expect(await open.reader.readPath(commit, 'd/large', 1000)).toEqual({ kind: 'too-large', size: 300_000 });
    expect(await open.reader.readPath(commit, 'd/small', 1)).toMatchObject({ kind: 'file' });
    expect(await open.reader.read(NOWHERE, 10)).toEqual({ kind: 'missing' });
    await expect(open.reader.commit(NOWHERE)).rejects.toThrow(MissingObject);
    const tree = (await open.reader.commit(commit)).tree;
    await expect(open.reader.commit(tree)).rejects.toThrow(MissingObject);
  });

  it('reads many objects asked for at the same time, large ones among them', async () => {
    await using repository = await createGitRepository();
    const files = Object.fromEntries(
      Array.from({ length: 60 }, (_, index) => [`f${index}`, `${index}`.repeat(1 + (index % 7) * 20_000)]),
    );
    const commit = parseObjectId(await repository.commit({ files }));
    await using open = openRepository(repository.path);
    const read = await Promise.all(
      Object.keys(files).map(path => open.reader.readPath(commit, path, 1_000_000)),
    );
    expect(read.map(file => file.kind === 'file' && file.data.toString())).toEqual(Object.values(files));
  });

  it('sees an object written after its process began', async () => {
    await using repository = await createGitRepository();
    await using open = openRepository(repository.path);
    expect(await open.reader.missing([NOWHERE])).toEqual([NOWHERE]);
    const blob = await open.writer.write('blob', Buffer.from('fresh'));
    expect(await open.reader.read(blob, 100)).toMatchObject({
      kind: 'object',
      type: 'blob',
      data: Buffer.from('fresh'),
    });
  });

  it('asks git for the size of a file once, however many trees hold it', async () => {
    await using repository = await createGitRepository();
    const files = Object.fromEntries(Array.from({ length: 30 }, (_, index) => [`f${index}`, `${index}`]));
    const parent = await repository.commit({ files });
    const child = await repository.commit({ parents: [parent], files: { ...files, more: 'x' } });
    // What is a file of its own is read without git.
    await repository.git('branch', 'child', child);
    await repository.git('repack', '-adq');
    await using open = openRepository(repository.path);
    const asked: string[] = [];
    const header: typeof open.reader.header = id => {
      asked.push(id);
      return open.reader.header(id);
    };
    const sizeOf = createTreeSizes({ tree: open.reader.tree, header });
    const [before, after] = await Promise.all(
      [parent, child].map(id => open.reader.commit(parseObjectId(id))),
    );
    expect((await sizeOf(before!.tree)).entries).toBe(30);
    const pid = open.reader.pid();
    process.kill(pid!, 'SIGSTOP');
    // git answers nothing now: what is known needs no answer.
    expect(await Promise.all(asked.map(id => open.reader.header(parseObjectId(id))))).toHaveLength(30);
    process.kill(pid!, 'SIGCONT');
    expect((await sizeOf(after!.tree)).entries).toBe(31);
  });

  it('refuses a ref name that would end its line', async () => {
    await using repository = await createGitRepository();
    await using open = openRepository(repository.path);
    await expect(open.reader.resolve('refs/heads/a\ncontents HEAD')).rejects.toThrow(RangeError);
  });
});

describe('the object writer', () => {
  it('writes objects git finds whole', async () => {
    await using repository = await createGitRepository();
    await using open = openRepository(repository.path);
    for (const content of ['', 'small', 'x'.repeat(100_000)]) {
      const id = await open.writer.write('blob', Buffer.from(content));
      expect(await repository.git('cat-file', 'blob', id)).toBe(content);
    }
    expect(await repository.git('fsck', '--strict', '--no-dangling')).toBe('');
  });

  it('heals an object that a power cut left empty', async () => {
    await using repository = await createGitRepository();
    await using open = openRepository(repository.path);
    const id = await open.writer.write('blob', Buffer.from('content'));
    const { truncate, chmod } = await import('node:fs/promises');
    const file = `${repository.path}/objects/${id.slice(0, 2)}/${id.slice(2)}`;
    await chmod(file, 0o644);
    await truncate(file, 0);
    await open.writer.write('blob', Buffer.from('content'));
    expect(await repository.git('cat-file', 'blob', id)).toBe('content');
  });
});

describe('changed paths', () => {
  it('are those of git diff-tree', async () => {
    const name = fc.constantFrom('a', 'a.b', 'a-b', 'd', 'ü', 'n\nl', '"q"');
    const path = fc.array(name, { minLength: 1, maxLength: 3 }).map(parts => parts.join('/'));
    const files = fc.dictionary(path, fc.constantFrom('1', '2', '3'), { maxKeys: 6 }).map(withoutClashes);
    await using repository = await createGitRepository();
    await using open = openRepository(repository.path);
    await fc.assert(
      fc.asyncProperty(files, files, async (before, after) => {
        const make = async (content: Record<string, string>): Promise<ObjectId> =>
          parseObjectId(await repository.commit({ parents: [], files: content }));
        const [old, fresh] = [await make(before), await make(after)];
        const expected = (
          await repository.raw(['diff-tree', '-r', '-z', '--no-renames', '--name-only', old, fresh])
        ).toString('latin1');
        const trees = await Promise.all([open.reader.commit(old), open.reader.commit(fresh)]);
        const found = await changedPaths(open.reader, trees[0].tree, trees[1].tree, createTreeBudget());
        expect(found.toSorted()).toEqual(expected.split('\0').filter(Boolean).map(pathText).toSorted());
      }),
      { numRuns: 25, seed: 11 },
    );
  });
});

/** A path cannot be a file and a directory. */
function withoutClashes(files: Record<string, string>): Record<string, string> {
  const paths = Object.keys(files);
  return Object.fromEntries(
    Object.entries(files).filter(([path]) => !paths.some(other => other.startsWith(`${path}/`))),
  );
}

describe('a tree', () => {
  it('is refused when it is cut off', async () => {
    const whole = Buffer.concat([Buffer.from('100644 a\0'), Buffer.alloc(20, 1)]);
    expect([...(await parseTree(whole)).keys()]).toEqual(['a']);
    for (let length = 1; length < whole.length; length += 1)
      await expect(parseTree(whole.subarray(0, length))).rejects.toThrow();
  });
});

describe('a path as text', () => {
  it('differs for different bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 8 }), fc.uint8Array({ maxLength: 8 }), (a, b) => {
        const [left, right] = [Buffer.from(a), Buffer.from(b)];
        // A name that is valid UTF-8 and looks quoted is the one accepted ambiguity.
        fc.pre(left[0] !== 0x22 && right[0] !== 0x22);
        expect(pathText(left.toString('latin1')) === pathText(right.toString('latin1'))).toBe(
          left.equals(right),
        );
      }),
    );
  });
});

describe('a file name for a project', () => {
  it('is safe, and different for different projects', () => {
    const text = fc.oneof(
      fc.string({ unit: 'grapheme' }),
      fc.constantFrom('.', '..', '../..', 'a/b', 'a%2Fb', 'a.', '', 'x'.repeat(500), '-x', 'a.lock'),
    );
    fc.assert(
      fc.property(text, text, (a, b) => {
        expect(pathName(a)).toMatch(/^[A-Za-z0-9_%=-][A-Za-z0-9_.%=-]*$/);
        expect(pathName(a).length).toBeLessThan(240);
        expect(pathName(a) === pathName(b)).toBe(a === b);
      }),
    );
    expect(pathName('acme/app')).toBe('acme%2Fapp');
  });
});

describe('a byte feed', () => {
  it('gives the same lines and counts however the bytes are cut', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(
          fc.string({ maxLength: 12 }).map(text => text.replaceAll('\n', '')),
          { maxLength: 8 },
        ),
        fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1 }),
        async (words, cuts) => {
          const feed = createByteFeed();
          const stream = Buffer.from(words.map(word => `${Buffer.byteLength(word)}\n${word}!`).join(''));
          const reading = (async () => {
            const found: string[] = [];
            for (const _ of words) {
              const size = Number((await feed.until(10)).toString());
              found.push((await feed.exactly(size)).toString());
              await feed.exactly(1);
            }
            return found;
          })();
          for (let at = 0, turn = 0; at < stream.length; turn += 1) {
            const size = cuts[turn % cuts.length]!;
            feed.push(stream.subarray(at, at + size));
            at += size;
            await Promise.resolve();
          }
          expect(await reading).toEqual(words);
          expect(feed.pending()).toBe(0);
        },
      ),
    );
  });

  it('refuses a line without end', async () => {
    const feed = createByteFeed(10);
    feed.push(Buffer.alloc(11, 65));
    await expect(feed.until(10)).rejects.toThrow('longer than 10 bytes');
  });
});
