/** One mirror, several processes: mergers and executors of a machine, some of which are killed in the middle of it. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createGitRepository, type GitRepository, runGit } from '../../fake/git-repository.ts';
import { plainMerger } from './plain-merge.ts';

const PROGRAM = fileURLToPath(new URL('mirror-worker.ts', import.meta.url));
let folder: string;
let host: GitRepository;
const started: ChildProcess[] = [];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gatehouse-shared-'));
  host = await createGitRepository(folder);
  await host.commit({ files: { 'README.md': 'hello\n' } });
});
afterEach(async () => {
  for (const child of started.splice(0)) child.kill('SIGKILL');
  await rm(folder, { recursive: true, force: true });
});

const mirror = () => join(folder, 'mirrors');

interface Worker {
  readonly child: ChildProcess;
  /** `<proposals> <commit>` of each pass. */
  readonly lines: string[];
  /** Exit status; null when it was killed. */
  readonly ended: Promise<number | null>;
  stderr(): string;
}

function startWorker(last: number): Worker {
  const child = spawn(process.execPath, [PROGRAM, mirror(), host.url, String(last)], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  started.push(child);
  const lines: string[] = [];
  let open = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    const parts = (open + text).split('\n');
    open = parts.pop() ?? '';
    lines.push(...parts);
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  const ended = new Promise<number | null>(resolve => child.once('close', code => resolve(code)));
  return { child, lines, ended, stderr: () => stderr };
}

let proposed = 0;
async function propose(count: number): Promise<void> {
  for (let index = 0; index < count; index += 1) {
    proposed += 1;
    const ref = `refs/pull/${proposed}/head`;
    const parents = [await host.tip('refs/heads/main')];
    await host.commit({ ref, parents, files: { [`file-${proposed}`]: `${proposed}\n` } });
  }
}
beforeEach(() => {
  proposed = 0;
});

/** What plain `git merge` makes of all proposals. */
async function expected(): Promise<string> {
  await using plain = await plainMerger(host.path, folder);
  await plain.checkout(await host.tip('refs/heads/main'));
  let commit: string | undefined;
  for (let number = 1; number <= proposed; number += 1) {
    const ref = `refs/pull/${number}/head`;
    commit = await plain.merge(await host.tip(ref), `Merge ${ref}`);
  }
  return commit ?? '';
}

/** The git processes that use the mirror. */
async function gitsInMirror(): Promise<number[]> {
  const found: number[] = [];
  for (const pid of (await readdir('/proc')).filter(name => /^\d+$/.test(name))) {
    const environment = await readFile(`/proc/${pid}/environ`, 'latin1').catch(() => '');
    if (environment.includes(`GIT_DIR=${mirror()}`)) found.push(Number(pid));
  }
  return found;
}

describe('a mirror shared by processes', () => {
  it('serves two processes that fetch and merge the same at the same time: same commits, no failure', async () => {
    await propose(3);
    const workers = [startWorker(30), startWorker(30)];
    while (proposed < 30) await propose(3);
    expect(await Promise.all(workers.map(worker => worker.ended))).toEqual([0, 0]);
    expect(workers.map(worker => worker.stderr()).join('')).toBe('');
    const commit = await expected();
    for (const worker of workers) expect(worker.lines.at(-1)).toBe(`30 ${commit}`);
    const repository = join(mirror(), 'local', 'app.git');
    expect((await runGit(repository, ['fsck', '--no-dangling', '--strict'])).toString()).toBe('');
  }, 60_000);

  it('works again after kill -9 of a process and its gits at any moment', async () => {
    let passes = 0;
    for (let round = 0; round < 8; round += 1) {
      await propose(2);
      const worker = startWorker(Number.POSITIVE_INFINITY);
      if (round % 2 === 0)
        await vi.waitUntil(async () => (await gitsInMirror()).length > 0, { timeout: 20_000, interval: 1 });
      else await vi.waitUntil(() => worker.lines.length >= round, { timeout: 20_000, interval: 1 });
      worker.child.kill('SIGKILL');
      for (const pid of await gitsInMirror()) kill(pid);
      await worker.ended;
      passes += worker.lines.length;
    }
    const last = startWorker(proposed);
    expect([await last.ended, last.stderr()]).toEqual([0, '']);
    expect(last.lines.at(-1)).toBe(`${proposed} ${await expected()}`);
    expect(passes).toBeGreaterThan(0);
    const repository = join(mirror(), 'local', 'app.git');
    await runGit(repository, ['fsck', '--no-dangling', '--connectivity-only']);
  }, 120_000);
});

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
  }
}
