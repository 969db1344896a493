import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type ObjectId, parseObjectId } from '../../../src/git/objects/object-id.ts';
import { createGitRepository, type GitRepository } from '../../fake/git-repository.ts';
import { openRepository } from './open-repository.ts';
import { plainMerger } from './plain-merge.ts';

const lines = (...changed: (readonly [number, string])[]) =>
  Array.from({ length: 40 }, (_, index) => changed.find(([at]) => at === index)?.[1] ?? `line ${index}`).join(
    '\n',
  );

async function branch(
  repository: GitRepository,
  name: string,
  base: string,
  files: Record<string, string | null>,
): Promise<ObjectId> {
  return parseObjectId(await repository.commit({ ref: `refs/heads/${name}`, parents: [base], files }));
}

describe('a merge chain', () => {
  it('equals plain git merge --no-ff, commit for commit', async () => {
    await using repository = await createGitRepository();
    const base = parseObjectId(
      await repository.commit({ files: { 'a.txt': lines(), 'b.txt': 'b\n', 'dir/c.txt': 'c\n' } }),
    );
    const old = await repository.commit({ files: { 'later.txt': 'x\n' } });
    const changes = [
      await branch(repository, 'one', base, { 'a.txt': lines([2, 'two']) }),
      await branch(repository, 'two', base, { 'a.txt': lines([30, 'thirty']), 'dir/new.txt': 'n\n' }),
      await branch(repository, 'three', old, { 'b.txt': null }),
    ];
    const messages = [
      'Merge one',
      'Merge two\n\nlong text  \n\n\n\nend\n\n',
      'Merge "three" #4\n# not a comment',
    ];
    await using open = openRepository(repository.path);
    const outcome = await open.chain.merge(
      parseObjectId(old),
      changes.map((change, index) => ({ change, message: messages[index]! })),
    );

    await using plain = await plainMerger(repository.path);
    await plain.checkout(old);
    const expected: (string | undefined)[] = [];
    for (const [index, change] of changes.entries())
      expected.push(await plain.merge(change, messages[index]!));
    if (outcome.kind !== 'merged') expect.unreachable(outcome.kind);
    expect(outcome.links.map(link => link.commit)).toEqual(expected);
  });

  it('equals plain git on random histories, conflicts included', async () => {
    const edit = fc.record({
      file: fc.constantFrom('a', 'b', 'd/a', 'd/b'),
      line: fc.integer({ min: 0, max: 39 }),
      text: fc.constantFrom('x', 'y', 'z'),
    });
    const move = fc.record({ from: fc.constantFrom('a', 'b'), to: fc.constantFrom('a', 'b', 'e/a', 'd/c') });
    const change = fc.record({
      edits: fc.array(edit, { minLength: 1, maxLength: 3 }),
      move: fc.option(move, { nil: undefined, freq: 3 }),
      onTopOf: fc.nat(3),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(change, { minLength: 2, maxLength: 5 }), async changes => {
        await using repository = await createGitRepository();
        const start = { a: lines(), b: lines([0, 'b']), 'd/a': lines([0, 'da']), 'd/b': lines([0, 'db']) };
        const states: { commit: string; files: Record<string, string> }[] = [
          { commit: await repository.commit({ files: start }), files: start },
        ];
        const heads: ObjectId[] = [];
        for (const [index, spec] of changes.entries()) {
          const parent = states[spec.onTopOf % states.length]!;
          const files: Record<string, string> = { ...parent.files };
          for (const { file, line, text } of spec.edits) {
            const rows = (files[file] ?? lines()).split('\n');
            rows[line] = text;
            files[file] = rows.join('\n');
          }
          if (spec.move !== undefined && files[spec.move.from] !== undefined) {
            files[spec.move.to] = files[spec.move.from]!;
            if (spec.move.to !== spec.move.from) delete files[spec.move.from];
          }
          const gone = Object.fromEntries(
            Object.keys(parent.files)
              .filter(path => !(path in files))
              .map(path => [path, null]),
          );
          const commit = await branch(repository, `c${index}`, parent.commit, { ...files, ...gone });
          states.push({ commit, files });
          heads.push(commit);
        }
        await using open = openRepository(repository.path);
        await using plain = await plainMerger(repository.path);
        const base = parseObjectId(states[0]!.commit);
        const outcome = await open.chain.merge(
          base,
          heads.map((head, index) => ({ change: head, message: `Merge ${index}` })),
        );
        await plain.checkout(base);
        const expected: string[] = [];
        for (const [index, head] of heads.entries()) {
          const merged = await plain.merge(head, `Merge ${index}`);
          if (merged === undefined) break;
          expected.push(merged);
        }
        expect(outcome.kind).toBe(expected.length === heads.length ? 'merged' : 'conflict');
        expect('links' in outcome && outcome.links.map(link => link.commit)).toEqual(expected);
      }),
      { numRuns: 12, seed: 3 },
    );
  });

  it('makes one merge for the last item, regardless of the items ahead', async () => {
    await using repository = await createGitRepository();
    const base = parseObjectId(await repository.commit({ files: { 'base.txt': 'x' } }));
    const steps = [];
    for (let index = 0; index < 20; index += 1) {
      steps.push({
        change: await branch(repository, `c${index}`, base, { [`f${index}`]: 'x' }),
        message: `Merge ${index}`,
      });
    }
    await using open = openRepository(repository.path);
    for (let index = 1; index <= 20; index += 1) await open.chain.merge(base, steps.slice(0, index));
    expect(open.chain.merges()).toBe(20);
    await open.chain.merge(base, [...steps.slice(0, 18), ...steps.slice(19)]);
    expect(open.chain.merges()).toBe(21);
  });

  it('finds its links again after the gate has really merged the first change', async () => {
    await using repository = await createGitRepository();
    const base = parseObjectId(await repository.commit({ files: { 'base.txt': 'x' } }));
    const one = { change: await branch(repository, 'one', base, { one: '1' }), message: 'one' };
    const two = { change: await branch(repository, 'two', base, { two: '2' }), message: 'two' };
    await using open = openRepository(repository.path);
    const before = await open.chain.merge(base, [one, two]);
    if (before.kind !== 'merged') expect.unreachable();
    const after = await open.chain.merge(before.links[0]!.commit, [two]);
    expect(after).toEqual({ kind: 'merged', links: [before.links[1]] });
    expect(open.chain.merges()).toBe(2);
  });

  it('serves simultaneous requests for one link with one merge', async () => {
    await using repository = await createGitRepository();
    const base = parseObjectId(await repository.commit({ files: { 'base.txt': 'x' } }));
    const step = { change: await branch(repository, 'one', base, { one: '1' }), message: 'one' };
    await using open = openRepository(repository.path);
    const all = await Promise.all([1, 2, 3].map(() => open.chain.merge(base, [step])));
    expect(new Set(all.map(outcome => JSON.stringify(outcome))).size).toBe(1);
    expect(open.chain.merges()).toBe(1);
  });

  it('names the change and the files of a conflict, and keeps what came before', async () => {
    await using repository = await createGitRepository();
    const base = parseObjectId(await repository.commit({ files: { 'a.txt': 'a\n', 'd/b.txt': 'b\n' } }));
    const one = {
      change: await branch(repository, 'one', base, { 'a.txt': 'one\n', 'd/b.txt': 'one\n' }),
      message: 'one',
    };
    const two = {
      change: await branch(repository, 'two', base, { 'a.txt': 'two\n', 'd/b.txt': 'two\n' }),
      message: 'two',
    };
    await using open = openRepository(repository.path);
    const outcome = await open.chain.merge(base, [one, two]);
    expect(outcome).toMatchObject({ kind: 'conflict', at: 1, files: ['a.txt', 'd/b.txt'] });
    expect('links' in outcome && outcome.links).toHaveLength(1);
  });

  it('goes on past groups that conflict, and says which change they conflict with', async () => {
    await using repository = await createGitRepository();
    const base = parseObjectId(await repository.commit({ files: { 'a.txt': 'a\n', 'b.txt': 'b\n' } }));
    const step = async (name: string, files: Record<string, string>) => ({
      change: await branch(repository, name, base, files),
      message: name,
    });
    const one = await step('one', { 'a.txt': 'one\n' });
    const two = await step('two', { 'b.txt': 'two\n' });
    const three = await step('three', { 'a.txt': 'three\n' });
    const four = await step('four', { 'b.txt': 'four\n' });
    const stranger = {
      change: parseObjectId(await repository.commit({ ref: 'refs/heads/s', parents: [], files: { s: 's' } })),
      message: 's',
    };
    await using open = openRepository(repository.path);
    const outcomes = await open.chain.mergePast(base, [[one], [two, three], [stranger], [four], []]);
    const direct = await open.chain.merge(base, [one, four]);
    if (direct.kind !== 'merged') expect.unreachable(direct.kind);
    expect(outcomes).toEqual([
      { kind: 'merged', links: [direct.links[0]] },
      { kind: 'left-out', at: 1, because: { kind: 'conflict', files: ['a.txt'], with: one.change } },
      { kind: 'left-out', at: 0, because: { kind: 'unrelated' } },
      { kind: 'merged', links: [direct.links[1]] },
      { kind: 'merged', links: [] },
    ]);
    const again = open.chain.merges();
    await open.chain.mergePast(base, [[one], [two, three], [stranger], [four]]);
    expect(open.chain.merges()).toBe(again);
  });

  it('makes no commit for a change the branch already contains', async () => {
    await using repository = await createGitRepository();
    const first = parseObjectId(await repository.commit({ files: { a: '1' } }));
    const tip = parseObjectId(await repository.commit({ files: { a: '2' } }));
    await using open = openRepository(repository.path);
    const outcome = await open.chain.merge(tip, [{ change: first, message: 'old' }]);
    expect(outcome).toMatchObject({ kind: 'merged', links: [{ commit: tip }] });
  });

  it('makes a merge commit even when the same content is there already', async () => {
    await using repository = await createGitRepository();
    const base = parseObjectId(await repository.commit({ files: { a: '1' } }));
    const one = await branch(repository, 'one', base, { a: '2' });
    const twin = parseObjectId(
      await repository.commit({
        ref: 'refs/heads/twin',
        parents: [base],
        files: { a: '2' },
        message: 'twin',
      }),
    );
    await using open = openRepository(repository.path);
    const outcome = await open.chain.merge(base, [
      { change: one, message: 'one' },
      { change: twin, message: 'twin' },
    ]);
    if (outcome.kind !== 'merged') expect.unreachable();
    expect(outcome.links[1]!.tree).toBe(outcome.links[0]!.tree);
    expect(outcome.links[1]!.commit).not.toBe(outcome.links[0]!.commit);
  });

  it('merges criss-cross histories as plain git does', async () => {
    await using repository = await createGitRepository();
    const base = await repository.commit({ files: { 'a.txt': lines() } });
    const left = await branch(repository, 'left', base, { 'a.txt': lines([1, 'left']) });
    const right = await branch(repository, 'right', base, { 'a.txt': lines([38, 'right']) });
    const both = lines([1, 'left'], [38, 'right']);
    const x = parseObjectId(
      await repository.commit({ ref: 'refs/heads/x', parents: [left, right], files: { 'a.txt': both } }),
    );
    const y = parseObjectId(
      await repository.commit({
        ref: 'refs/heads/y',
        parents: [right, left],
        files: { 'a.txt': both, 'y.txt': 'y' },
      }),
    );
    await using open = openRepository(repository.path);
    const outcome = await open.chain.merge(x, [{ change: y, message: 'cross' }]);
    await using plain = await plainMerger(repository.path);
    await plain.checkout(x);
    expect(outcome).toMatchObject({ kind: 'merged', links: [{ commit: await plain.merge(y, 'cross') }] });
  });

  it('follows a rename on one side with an edit on the other', async () => {
    await using repository = await createGitRepository();
    const base = parseObjectId(await repository.commit({ files: { 'old.txt': lines() } }));
    const moved = await branch(repository, 'moved', base, { 'old.txt': null, 'new/name.txt': lines() });
    const edited = await branch(repository, 'edited', base, { 'old.txt': lines([5, 'edited']) });
    await using open = openRepository(repository.path);
    const outcome = await open.chain.merge(base, [
      { change: moved, message: 'm' },
      { change: edited, message: 'e' },
    ]);
    if (outcome.kind !== 'merged') expect.unreachable();
    const file = await open.reader.readPath(outcome.links[1]!.commit, 'new/name.txt', 10_000);
    expect(file.kind === 'file' && file.data.toString()).toBe(lines([5, 'edited']));
  });

  it('says that histories are unrelated, and goes on working', async () => {
    await using repository = await createGitRepository();
    const base = parseObjectId(await repository.commit({ files: { a: '1' } }));
    const stranger = parseObjectId(
      await repository.commit({ ref: 'refs/heads/stranger', parents: [], files: { b: '1' } }),
    );
    const one = await branch(repository, 'one', base, { c: '2' });
    await using open = openRepository(repository.path);
    const [bad, good] = await Promise.all([
      open.chain.merge(base, [{ change: stranger, message: 's' }]),
      open.chain.merge(base, [{ change: one, message: 'one' }]),
    ]);
    expect(bad).toMatchObject({ kind: 'unrelated', at: 0 });
    expect(good.kind).toBe('merged');
  });

  it('dates a merge by the later of its parents and never by the clock', async () => {
    await using repository = await createGitRepository();
    const base = parseObjectId(await repository.commit({ files: { a: '1' }, date: 2_000_000_000 }));
    const older = parseObjectId(
      await repository.commit({
        ref: 'refs/heads/o',
        parents: [base],
        files: { b: '1' },
        date: 1_500_000_000,
      }),
    );
    await using open = openRepository(repository.path);
    const outcome = await open.chain.merge(base, [{ change: older, message: 'x' }]);
    if (outcome.kind !== 'merged') expect.unreachable();
    expect((await open.reader.commit(outcome.links[0]!.commit)).committedAt).toBe(2_000_000_000);
    expect(
      await repository.git('show', '-s', '--format=%an <%ae> %ad', '--date=raw', outcome.links[0]!.commit),
    ).toBe('Gatehouse <gatehouse@example.org> 2000000000 +0000');
  });
});
