import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ChainStep } from '../../../src/git/merge/merge-chain.ts';
import { MOST_OWN_COMMITS } from '../../../src/git/merge/own-commits.ts';
import { type ObjectId, parseObjectId } from '../../../src/git/objects/object-id.ts';
import { createGitRepository, type GitRepository, runGit } from '../../fake/git-repository.ts';
import { openRepository } from './open-repository.ts';
import { plainModes } from './plain-modes.ts';

const MODES = [
  'merge',
  'merge-resolve',
  'merge-ort',
  'merge-recursive',
  'squash-merge',
  'rebase',
  'cherry-pick',
] as const;

const rows = (...changed: (readonly [number, string])[]) =>
  Array.from(
    { length: 30 },
    (_, at) => `${changed.find(([line]) => line === at)?.[1] ?? `line ${at}`}\n`,
  ).join('');

/** Today's git does the same for the other names of `merge`. */
const DIFFERENT = ['merge', 'merge-resolve', 'squash-merge', 'rebase', 'cherry-pick'] as const;

interface Edit {
  readonly file: string;
  readonly line: number;
  readonly text: string;
}
interface Series {
  readonly commits: readonly (readonly Edit[])[];
  readonly onTopOf: number;
  readonly merges: number | undefined;
  readonly renames: boolean;
}

const edit = fc.record({
  file: fc.constantFrom('a', 'a', 'd/a'),
  line: fc.constantFrom(1, 2, 20),
  text: fc.constantFrom('x', 'y', 'z'),
});
const series = fc.record({
  commits: fc.array(fc.array(edit, { maxLength: 2 }), { minLength: 1, maxLength: 3 }),
  onTopOf: fc.nat(3),
  merges: fc.option(fc.nat(3), { nil: undefined, freq: 5 }),
  renames: fc.boolean(),
});

interface Made {
  readonly head: string;
  readonly files: Readonly<Record<string, string>>;
}

/** Real commits of one change; a commit without edits is empty. */
async function makeSeries(
  repository: GitRepository,
  at: number,
  spec: Series,
  made: readonly Made[],
): Promise<Made> {
  let { head, files } = made[spec.onTopOf % made.length]!;
  const ref = `refs/heads/c${at}`;
  for (const [index, edits] of spec.commits.entries()) {
    const next: Record<string, string> = { ...files };
    for (const { file, line, text } of edits) {
      const lines = (next[file] ?? rows()).split('\n');
      lines[line] = text;
      next[file] = lines.join('\n');
    }
    if (spec.renames && index === 0 && next.a !== undefined) {
      next.e = next.a;
      delete next.a;
    }
    const gone = Object.keys(files).filter(path => !(path in next));
    head = await repository.commit({
      ref,
      parents: [head],
      files: { ...next, ...Object.fromEntries(gone.map(path => [path, null])) },
      message: `change ${at}, commit ${index}\n\nwith a text \n`,
    });
    files = next;
  }
  const other = spec.merges === undefined ? undefined : made[spec.merges % made.length]!.head;
  // What the merge brings is left out of its tree: only its place in the history matters here.
  if (other !== undefined)
    head = await repository.commit({ ref, parents: [head, other], message: `merge in ${at}` });
  return { head, files };
}

describe('the merge modes', () => {
  it.each(DIFFERENT)(
    '%s gives the commits that git itself gives, conflicts included, on random histories',
    async mode => {
      let [merged, conflicts] = [0, 0];
      await fc.assert(
        fc.asyncProperty(fc.array(series, { minLength: 2, maxLength: 4 }), async specs => {
          await using repository = await createGitRepository();
          const start = { a: rows(), b: rows([0, 'b']), 'd/a': rows([0, 'd']) };
          const made: Made[] = [{ head: await repository.commit({ files: start }), files: start }];
          for (const [at, spec] of specs.entries()) made.push(await makeSeries(repository, at, spec, made));
          const [base, ...heads] = made.map(({ head }) => parseObjectId(head));
          const steps = heads.map(
            (change, at): ChainStep => ({ change, mode, message: `Land ${at}\n\nMore.` }),
          );
          await using open = openRepository(repository.path);
          const outcomes = await open.chain.mergePast(
            base!,
            steps.map(step => [step]),
          );
          await using plain = await plainModes(repository.path);
          let state: string = base!;
          await plain.checkout(state);
          for (const [at, step] of steps.entries()) {
            const expected = await plain.apply(step);
            const outcome = outcomes[at]!;
            expect(outcome.kind, `change ${at}`).toBe(expected === undefined ? 'left-out' : 'merged');
            if (outcome.kind !== 'merged' || expected === undefined) {
              conflicts += 1;
              continue;
            }
            merged += 1;
            const { commit } = outcome.links[0]!;
            if (mode !== 'rebase' && mode !== 'cherry-pick') expect(commit).toBe(expected);
            expect(await plain.history(state, commit)).toBe(await plain.history(state, expected));
            state = commit;
            await plain.checkout(state);
          }
        }),
        { numRuns: 5, seed: 11 },
      );
      expect(merged).toBeGreaterThan(5);
      expect(conflicts).toBeGreaterThan(0);
    },
  );
});

async function branch(
  repository: GitRepository,
  name: string,
  base: string,
  ...commits: Record<string, string>[]
) {
  let head = base;
  for (const [index, files] of commits.entries())
    head = await repository.commit({
      ref: `refs/heads/${name}`,
      parents: [head],
      files,
      message: `${name} ${index}`,
    });
  return parseObjectId(head);
}

describe.each(MODES)('a chain in the mode %s', mode => {
  const step = (change: ObjectId): ChainStep => ({ change, mode, message: 'Land it' });

  it('has the same commits in another mirror', async () => {
    await using repository = await createGitRepository();
    const base = parseObjectId(await repository.commit({ files: { a: rows() } }));
    const steps = [
      step(await branch(repository, 'one', base, { a: rows([3, 'x']) }, { b: 'b' })),
      step(await branch(repository, 'two', base, { a: rows([20, 'y']) }, { c: 'c' })),
    ];
    const folder = await mkdtemp(join(tmpdir(), 'gatehouse-mirror-'));
    try {
      await runGit(folder, ['clone', '--quiet', '--mirror', repository.url, 'mirror.git']);
      await using here = openRepository(repository.path);
      await using there = openRepository(join(folder, 'mirror.git'), 'process-per-merge');
      const made = await here.chain.merge(base, steps);
      expect(made.kind).toBe('merged');
      expect(await there.chain.merge(base, steps)).toEqual(made);
      expect(here.chain.merges()).toBe(2);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });

  it('adds nothing for a change that is there already', async () => {
    await using repository = await createGitRepository();
    const old = await repository.commit({ files: { a: '1' } });
    const base = parseObjectId(await repository.commit({ parents: [old], files: { a: '2' } }));
    await using open = openRepository(repository.path);
    const outcome = await open.chain.merge(base, [step(parseObjectId(old))]);
    expect(outcome).toMatchObject({ kind: 'merged', links: [{ commit: base }] });
  });

  it('names the files of a conflict, and the change ahead that it is with', async () => {
    await using repository = await createGitRepository();
    const base = parseObjectId(await repository.commit({ files: { a: rows(), b: 'b' } }));
    const one = await branch(repository, 'one', base, { a: rows([3, 'x']) });
    const two = await branch(repository, 'two', base, { b: 'changed' }, { a: rows([3, 'y']) });
    await using open = openRepository(repository.path);
    const [first, second] = await open.chain.mergePast(base, [[step(one)], [step(two)]]);
    expect(first).toMatchObject({ kind: 'merged' });
    expect(second).toEqual({
      kind: 'left-out',
      at: 0,
      because: { kind: 'conflict', files: ['a'], with: one },
    });
  });

  it('refuses a change that shares no commit with the branch', async () => {
    await using repository = await createGitRepository();
    const base = parseObjectId(await repository.commit({ files: { a: '1' } }));
    const other = parseObjectId(
      await repository.commit({ ref: 'refs/heads/x', parents: [], files: { a: '2' } }),
    );
    await using open = openRepository(repository.path);
    expect(await open.chain.merge(base, [step(other)])).toMatchObject({ kind: 'unrelated', at: 0 });
  });
});

describe('a squash', () => {
  it('is one commit by the author of the change, with the message given, on the state before', async () => {
    await using repository = await createGitRepository();
    const base = parseObjectId(await repository.commit({ files: { a: rows() } }));
    const change = parseObjectId(
      (
        await repository.raw(
          [
            'commit-tree',
            '-p',
            await branch(repository, 'one', base, { b: 'b' }),
            '-m',
            'own text',
            `${base}^{tree}`,
          ],
          '',
          {
            GIT_AUTHOR_NAME: 'Ada Löwe',
            GIT_AUTHOR_EMAIL: 'ada@example.org',
            GIT_AUTHOR_DATE: '1767000000 +0130',
            GIT_COMMITTER_NAME: 'c',
            GIT_COMMITTER_EMAIL: 'c@example.org',
            GIT_COMMITTER_DATE: '1999999999 +0000',
          },
        )
      )
        .toString()
        .trim(),
    );
    await using open = openRepository(repository.path);
    const made = await open.chain.merge(base, [
      { change, mode: 'squash-merge', message: 'Title\n\nBody  \n\n\n' },
    ]);
    if (made.kind !== 'merged') expect.unreachable(made.kind);
    expect(await repository.git('cat-file', 'commit', made.links[0]!.commit)).toBe(
      [
        `tree ${await repository.git('rev-parse', `${base}^{tree}`)}`,
        `parent ${base}`,
        'author Ada Löwe <ada@example.org> 1767000000 +0130',
        'committer Gatehouse <gatehouse@example.org> 1999999999 +0000',
        '',
        'Title\n\nBody',
      ].join('\n'),
    );
  });
});

describe.each(['rebase', 'cherry-pick'] as const)('%s', mode => {
  it('refuses more commits than it may copy, with the number', async () => {
    await using repository = await createGitRepository();
    const base = parseObjectId(await repository.commit({ files: { a: '1' } }));
    const stream = Array.from(
      { length: MOST_OWN_COMMITS + 1 },
      (_, at) =>
        `commit refs/heads/long\ncommitter a <a@example.org> ${1767300000 + at} +0000\ndata 1\nx\n${at === 0 ? `from ${base}\n` : ''}M 644 inline f\ndata ${String(at).length}\n${at}\n\n`,
    ).join('');
    await repository.raw(['fast-import', '--quiet'], stream);
    const change = parseObjectId(await repository.tip('refs/heads/long'));
    await using open = openRepository(repository.path);
    const step = { change, mode, message: '' };
    const text = `has more than 250 commits, too many to ${mode}`;
    expect(await open.chain.merge(base, [step])).toEqual({ kind: 'refused', at: 0, text, links: [] });
    const parent = parseObjectId(await repository.git('rev-parse', `${change}^`));
    expect((await open.chain.merge(base, [{ ...step, change: parent }])).kind).toBe('merged');
  });

  it('leaves out a commit whose patch has landed, also when it was reverted since', async () => {
    await using repository = await createGitRepository();
    const base = await repository.commit({ files: { a: rows() } });
    const change = await branch(repository, 'one', base, { a: rows([3, 'x']) }, { b: 'b' });
    const landed = await branch(repository, 'main', base, { c: 'c' }, { a: rows([3, 'x']) }, { a: rows() });
    await using open = openRepository(repository.path);
    const made = await open.chain.merge(landed, [{ change, mode, message: '' }]);
    if (made.kind !== 'merged') expect.unreachable(made.kind);
    const { commit } = made.links[0]!;
    expect(await repository.git('log', '--format=%s', `${landed}..${commit}`)).toBe('one 1');
    expect(await repository.git('show', `${commit}:a`)).toBe(rows().trimEnd());
  });

  it('finds its link again after the change ahead has landed as it was tested', async () => {
    await using repository = await createGitRepository();
    const base = await branch(repository, 'main', await repository.commit({ files: { a: rows() } }), {
      z: 'z',
    });
    const fork = await repository.git('rev-parse', `${base}^`);
    const one = {
      change: await branch(repository, 'one', fork, { a: rows([3, 'x']) }, { b: 'b' }),
      mode,
      message: '',
    };
    const two = {
      change: await branch(repository, 'two', one.change, { a: rows([3, 'x'], [4, 'y']) }),
      mode,
      message: '',
    };
    await using open = openRepository(repository.path);
    const chain = await open.chain.merge(base, [one, two]);
    if (chain.kind !== 'merged') expect.unreachable(chain.kind);
    expect(await open.chain.merge(chain.links[0]!.commit, [two])).toEqual({
      kind: 'merged',
      links: [chain.links[1]],
    });
    expect(open.chain.merges()).toBe(2);
  });
});
