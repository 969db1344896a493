/**
 * Speculative merges on a project of 10 000 files: a chain of 100 changes, compared with plain `git merge` in a work tree in the
 * same run, and the cost of a queue of 20 in counts.
 *
 *     node test/bench/merge-chain.ts
 *
 * The repository is generated and the same in every run. Every 5th change also edits one shared file of 1 500 lines, so that
 * a fifth of the merges are content merges. Oracle: the first ten merges have the commit ids plain git gives them.
 */
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ObjectId, parseObjectId } from '../../src/git/objects/object-id.ts';
import { parseRefName } from '../../src/git/objects/ref-name.ts';
import { createGit } from '../../src/git/process/git.ts';
import { openRepositoryCache } from '../../src/git/repository-cache.ts';
import { createGitRepository, type GitRepository } from '../fake/git-repository.ts';
import { IDENTITY } from '../unit/git/open-repository.ts';
import { plainMerger } from '../unit/git/plain-merge.ts';

const FILES = 10_000;
const CHANGES = 100;
const SAMPLE = 10;
const QUEUE = 20;

export interface MergeChainFigures {
  readonly fileSystem: string;
  readonly files: number;
  /** Milliseconds per merge of ours. */
  readonly p50: number;
  readonly p95: number;
  /** Milliseconds for the whole chain of 100. */
  readonly total: number;
  /** Milliseconds per merge of plain git, median. */
  readonly plainP50: number;
  /** `plainP50 / p50`. */
  readonly ratio: number;
  /** Enqueuing 20 changes one after another. */
  readonly queue: {
    readonly merges: number;
    readonly fetches: number;
    readonly spawns: number;
    readonly ms: number;
  };
  /** The chain's commits equal those of plain git. */
  readonly equalsPlainGit: boolean;
}

export async function benchMergeChain(): Promise<MergeChainFigures> {
  const folder = await mkdtemp(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'gatehouse-bench-'));
  try {
    const host = await createGitRepository(folder);
    const base = await generate(host);
    const steps: { change: ObjectId; message: string }[] = [];
    for (let index = 0; index < CHANGES; index += 1) {
      steps.push({
        change: parseObjectId(await host.tip(`refs/pull/${index}/head`)),
        message: `Merge change ${index}`,
      });
    }
    const chain = await measureChain(folder, host, base, steps);
    const queue = await measureQueue(folder, host, base, steps.slice(0, QUEUE));
    const plain = await measurePlain(folder, host, base, steps.slice(0, SAMPLE));
    return {
      fileSystem: execFileSync('stat', ['-f', '-c', '%T', folder]).toString().trim(),
      files: FILES,
      p50: percentile(chain.times, 0.5),
      p95: percentile(chain.times, 0.95),
      total: chain.times.reduce((sum, time) => sum + time, 0),
      plainP50: percentile(plain.times, 0.5),
      ratio: percentile(plain.times, 0.5) / percentile(chain.times, 0.5),
      queue,
      equalsPlainGit: plain.commits.every((commit, index) => commit === chain.commits[index]),
    };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

type Steps = readonly { readonly change: ObjectId; readonly message: string }[];

/** One fast-import stream: the base and all changes. */
async function generate(host: GitRepository): Promise<ObjectId> {
  const who = 'Bench <bench@example.org>';
  const data = (text: string) => `data ${Buffer.byteLength(text)}\n${text}\n`;
  const shared = Array.from({ length: 1500 }, (_, line) => `shared line ${line}`);
  const parts = [`commit refs/heads/main\nmark :1\ncommitter ${who} 1700000000 +0000\n${data('base')}`];
  for (let file = 0; file < FILES; file += 1)
    parts.push(`M 100644 inline ${pathOf(file)}\n${data(`file ${file}\n`.repeat(40))}`);
  parts.push(`M 100644 inline shared.txt\n${data(shared.join('\n'))}`);
  for (let change = 0; change < CHANGES; change += 1) {
    parts.push(
      `commit refs/pull/${change}/head\ncommitter ${who} ${1700000000 + change * 60} +0000\n${data(`change ${change}`)}from :1\n`,
    );
    for (let edit = 0; edit < 1 + (change % 4); edit += 1) {
      parts.push(
        `M 100644 inline ${pathOf((change * 97 + edit * 2503) % FILES)}\n${data(`edited by ${change}\n`)}`,
      );
    }
    if (change % 5 === 0) {
      const lines = shared.with(change * 15, `edited by ${change}`);
      parts.push(`M 100644 inline shared.txt\n${data(lines.join('\n'))}`);
    }
  }
  await host.raw(['fast-import', '--quiet', '--force'], parts.join(''));
  return parseObjectId(await host.tip('refs/heads/main'));
}

function pathOf(file: number): string {
  return `src/area${file % 17}/part${file % 101}/module${file}.txt`;
}

/** The chain grows by one change per request, as a queue does. */
async function measureChain(folder: string, host: GitRepository, base: ObjectId, steps: Steps) {
  await using cache = await openRepositoryCache({
    root: join(folder, 'chain'),
    git: createGit({ identity: IDENTITY }),
  });
  const repository = await cache.repository('bench', 'big');
  await fetchAll(repository, host, steps);
  const times: number[] = [];
  let commits: readonly string[] = [];
  for (let length = 1; length <= steps.length; length += 1) {
    const started = performance.now();
    const outcome = await repository.chain.merge(base, steps.slice(0, length));
    times.push(performance.now() - started);
    if (outcome.kind !== 'merged') throw new Error(`the generated changes do not merge: ${outcome.kind}`);
    commits = outcome.links.map(link => link.commit);
  }
  return { times, commits };
}

async function measureQueue(
  folder: string,
  host: GitRepository,
  base: ObjectId,
  steps: Steps,
): Promise<MergeChainFigures['queue']> {
  await using cache = await openRepositoryCache({
    root: join(folder, 'queue'),
    git: createGit({ identity: IDENTITY }),
  });
  const repository = await cache.repository('bench', 'big');
  await fetchAll(repository, host, steps);
  const before = cache.counters();
  const started = performance.now();
  await Promise.all(
    steps.map(async (_, index) => {
      await fetchAll(repository, host, steps.slice(0, index + 1));
      return repository.chain.merge(base, steps.slice(0, index + 1));
    }),
  );
  const after = cache.counters();
  return {
    merges: after.merges,
    fetches: after.fetches,
    spawns: after.spawns - before.spawns,
    ms: performance.now() - started,
  };
}

async function fetchAll(
  repository: Awaited<ReturnType<Awaited<ReturnType<typeof openRepositoryCache>>['repository']>>,
  host: GitRepository,
  steps: Steps,
) {
  const wants = steps.map(({ change }, index) => ({
    ref: parseRefName(`refs/pull/${index}/head`),
    commit: change,
  }));
  const outcome = await repository.fetch(host, wants);
  if (outcome.kind !== 'fetched') throw new Error(outcome.message);
}

async function measurePlain(folder: string, host: GitRepository, base: ObjectId, steps: Steps) {
  await using plain = await plainMerger(host.path, folder);
  await plain.checkout(base);
  const times: number[] = [];
  const commits: (string | undefined)[] = [];
  for (const { change, message } of steps) {
    const before = plain.spent();
    commits.push(await plain.merge(change, message));
    times.push(plain.spent() - before);
  }
  return { times, commits };
}

function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

if (import.meta.main) {
  const figures = await benchMergeChain();
  process.stdout.write(`${JSON.stringify(figures, null, 2)}\n`);
}
