/** Trees that cost a stranger kilobytes and would cost us for ever: each ends in a clear answer, and no turn is long. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { MergeInput } from '../../../src/model/merge.ts';
import { parseCommitId } from '../../../src/model/project.ts';
import type { GitRepository } from '../../fake/git-repository.ts';
import { measureTurns } from '../../fake/turn-cost.ts';
import { type BombEntry, commitWith, deepTree, gitBomb, wideTree } from '../git/git-bomb.ts';
import { configFilesRequest, expectKind, type MergerStage, mergeRequest, openStage } from './merger-stage.ts';

let stage: MergerStage;
let app: GitRepository;
beforeEach(async () => {
  stage = await openStage();
  app = await stage.host('app');
  await app.commit({ files: { 'README.md': 'app\n', 'old.txt': 'one\ntwo\nthree\n' } });
});
afterEach(() => stage[Symbol.asyncDispose]());

/** A change with these entries at its root, made on `from` (default: the branch as it is). */
async function proposeTree(
  id: string,
  entries: readonly BombEntry[],
  options: { readonly from?: string; readonly remove?: readonly string[] } = {},
): Promise<MergeInput> {
  const input = await stage.propose('app', id, { note: id });
  const parent = options.from ?? (await app.tip('refs/heads/main'));
  const commit = await commitWith(app.path, parent, entries, options.remove);
  await app.git('update-ref', input.ref, commit);
  return { ...input, commit: parseCommitId(commit) };
}

const bombIn = async (levels: number, name: string): Promise<BombEntry[]> => [
  { name, mode: '040000', id: await gitBomb(app.path, levels) },
];

/** Milliseconds. */
const LONGEST_TURN = 50;

/** The cheapest of three: a turn may have to collect garbage of the tests before; one that is too long by itself is so each time. */
async function serveMeasured(request: Parameters<MergerStage['serve']>[0]) {
  let longest = Number.POSITIVE_INFINITY;
  for (let tries = 1; ; tries++) {
    const turns = measureTurns();
    const outcome = await stage.serve(request);
    longest = Math.min(longest, turns.stop());
    if (longest < LONGEST_TURN || tries === 3) return { outcome, longest };
  }
}

it.each([
  ['a directory', 'd'],
  ['the configuration', 'zuul.d'],
])(
  'a change whose %s has 10^10 files is refused with their number, and the next one is merged',
  async (_, name) => {
    const bomb = await proposeTree('1', await bombIn(10, name));
    const { outcome, longest } = await serveMeasured(mergeRequest([bomb]));
    expect(expectKind(outcome, 'failed')).toMatchObject({
      text: 'Unable to merge refs/pull/1/head into local/app: its tree is too large to read: 11111111111 entries, limit 1000000',
      retryable: false,
    });
    expect(longest).toBeLessThan(LONGEST_TURN);
    expectKind(await stage.serve(mergeRequest([await stage.propose('app', '2', { a: 'b' })])), 'merged');
  },
);

it('a change that hides a rename among 10^10 files never gets to git, which would look at all of them', async () => {
  const from = await app.tip('refs/heads/main');
  await app.commit({ files: { 'old.txt': 'one\ntwo\nthree\nfour\n' } });
  const bomb = await proposeTree('1', await bombIn(10, 'd'), { from, remove: ['old.txt'] });
  expect(expectKind(await stage.serve(mergeRequest([bomb])), 'failed').text).toContain('too large to read');
});

it('the answer for a change behind one that is too large names that one', async () => {
  const bomb = await proposeTree('1', await bombIn(19, 'd'));
  const own = await stage.propose('app', '2', { a: 'b' });
  expect(expectKind(await stage.serve(mergeRequest([bomb, own])), 'failed').text).toContain(
    'refs/pull/1/head',
  );
});

it('directories in directories without end are refused', async () => {
  const deep: BombEntry = { name: 'd', mode: '040000', id: await deepTree(app.path, 2100) };
  const outcome = expectKind(await stage.serve(mergeRequest([await proposeTree('1', [deep])])), 'failed');
  expect(outcome).toMatchObject({ retryable: false, text: expect.stringContaining('too deep to read') });
});

it('a directory of 100 000 files is read in many short turns, and refused for the length of its answer', async () => {
  const wide: BombEntry = { name: 'd', mode: '040000', id: await wideTree(app.path, 100_000) };
  const { outcome, longest } = await serveMeasured(mergeRequest([await proposeTree('1', [wide])]));
  expect(expectKind(outcome, 'failed').text).toContain('it changes too many paths');
  expect(longest).toBeLessThan(LONGEST_TURN);
});

it('a change of 20 000 files is merged, in short turns', async () => {
  const wide: BombEntry = { name: 'd', mode: '040000', id: await wideTree(app.path, 20_000) };
  const { outcome, longest } = await serveMeasured(mergeRequest([await proposeTree('1', [wide])]));
  expect(expectKind(outcome, 'merged').filesChanged[0]?.files).toHaveLength(20_000);
  expect(longest).toBeLessThan(LONGEST_TURN);
});

it('a branch whose configuration directory has 10^19 files is read as one with an error there', async () => {
  const bomb = await proposeTree('1', await bombIn(19, 'zuul.d'));
  await app.git('update-ref', 'refs/heads/main', bomb.commit);
  const { outcome, longest } = await serveMeasured(configFilesRequest('app'));
  const [branch] = expectKind(outcome, 'config-files').branches;
  expect(branch?.files).toEqual([{ path: 'zuul.d/', text: '', problem: 'holds more than 1000 files' }]);
  expect(longest).toBeLessThan(LONGEST_TURN);
});

it('configuration of a thousand names for one large file is read up to its limit only', async () => {
  const blob = (await app.raw(['hash-object', '-w', '--stdin'], '#'.repeat(300_000))).toString().trim();
  const lines = Array.from({ length: 900 }, (_, index) => `100644 blob ${blob}\t${index}.yaml\n`);
  const id = (await app.raw(['mktree'], lines.join(''))).toString().trim();
  const change = await proposeTree('1', [{ name: 'zuul.d', mode: '040000', id }]);
  const [config] = expectKind(await stage.serve(mergeRequest([change])), 'merged').config;
  const read = config?.files.filter(file => file.problem === undefined);
  expect(read).toHaveLength(2);
  expect(config?.files.at(-1)?.problem).toContain('more than 800000 bytes together');
});

it('a file that unfolds from kilobytes to 200 MB is measured, not read', async () => {
  const blob = (await app.raw(['hash-object', '-w', '--stdin'], Buffer.alloc(200_000_000))).toString().trim();
  const change = await proposeTree('1', [{ name: 'zuul.yaml', mode: '100644', id: blob }]);
  const before = process.resourceUsage().maxRSS;
  const [config] = expectKind(await stage.serve(mergeRequest([change])), 'merged').config;
  expect(config?.files[0]?.problem).toContain('larger than');
  expect(process.resourceUsage().maxRSS - before).toBeLessThan(100_000);
});
