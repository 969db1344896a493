import { describe, expect, it, vi } from 'vitest';
import { probeMergeTree } from '../../../src/git/merge/probe-merge-tree.ts';
import { parseObjectId } from '../../../src/git/objects/object-id.ts';
import { type Coprocess, CoprocessDied, createCoprocess } from '../../../src/git/process/coprocess.ts';
import { createGit } from '../../../src/git/process/git.ts';
import { startHere } from '../../../src/git/process/git-process.ts';
import { startAside } from '../../../src/git/starter/start-aside.ts';
import { createGitRepository } from '../../fake/git-repository.ts';
import { IDENTITY, openRepository } from './open-repository.ts';

/** Echoes lines; `die` ends it, `hang` makes it silent. */
const ECHO = `
process.stdin.setEncoding('utf8');
let rest = '';
process.stdin.on('data', text => {
  const lines = (rest + text).split('\\n');
  rest = lines.pop();
  for (const line of lines) {
    if (line === 'die') { process.stderr.write('as requested'); process.exit(3); }
    if (line !== 'hang') process.stdout.write(line + '\\n');
  }
});
process.stdin.on('end', () => process.exit(0));
`;

function echo(
  options: Parameters<typeof createCoprocess>[1] = {},
  start = startHere,
): {
  process: Coprocess;
  starts: () => number;
  ask: (line: string) => Promise<string>;
} {
  let starts = 0;
  const coprocess = createCoprocess(() => {
    starts += 1;
    return start({ file: process.execPath, args: ['-e', ECHO], cwd: '/', env: {} });
  }, options);
  const ask = (line: string) =>
    coprocess.exchange(`${line}\n`, async reader => (await reader.until(10)).toString());
  return { process: coprocess, starts: () => starts, ask };
}

describe.each([
  ['as a child', startHere],
  ['of the process that starts git', startAside],
])('a coprocess, %s,', (_, start) => {
  it('answers questions asked at the same time, in order', async () => {
    const { process, starts, ask } = echo({}, start);
    expect(await Promise.all(['a', 'b', 'c'].map(ask))).toEqual(['a', 'b', 'c']);
    expect(starts()).toBe(1);
    await process.close();
  });

  it('fails all open questions when it dies, says why, and is replaced', async () => {
    const { process, starts, ask } = echo({}, start);
    const results = await Promise.allSettled(['a', 'die', 'b'].map(ask));
    expect(results.map(result => result.status)).toEqual(['fulfilled', 'rejected', 'rejected']);
    expect(results[1]).toMatchObject({ reason: expect.any(CoprocessDied) });
    expect(String(results[1]!.status === 'rejected' && results[1]!.reason)).toContain(
      'exit code 3): as requested',
    );
    expect(await ask('again')).toBe('again');
    expect(starts()).toBe(2);
    await process.close();
  });

  it('is killed and replaced when it does not answer', async () => {
    const { process, ask } = echo({ timeoutMs: 1_000 }, start);
    await expect(ask('hang')).rejects.toThrow('did not answer within 1000 ms');
    await expect(ask('on')).resolves.toBe('on');
    await process.close();
  });

  it('is replaced when an answer cannot be read, because the stream is out of step', async () => {
    const { process, starts, ask } = echo({}, start);
    const bad = process.exchange('x\n', () => Promise.reject(new Error('not what I expected')));
    await expect(bad).rejects.toThrow(CoprocessDied);
    expect(await ask('fine')).toBe('fine');
    expect(starts()).toBe(2);
    await process.close();
  });

  it('ends after a time without questions and begins again with the next', async () => {
    const { process, starts, ask } = echo({ idleMs: 20 }, start);
    await ask('a');
    await vi.waitUntil(() => process.pid() === undefined, { timeout: 5_000 });
    expect(await ask('b')).toBe('b');
    expect(starts()).toBe(2);
    await process.close();
  });

  it('answers what is open before it closes, and nothing after', async () => {
    const { process, ask } = echo({}, start);
    const open = ask('a');
    await process.close();
    expect(await open).toBe('a');
    await expect(ask('b')).rejects.toThrow('closed');
  });
});

describe('git as a coprocess', () => {
  it('is not missed when it is killed between two questions, or during one', async () => {
    await using repository = await createGitRepository();
    const base = parseObjectId(await repository.commit({ files: { a: '1' } }));
    const steps = [];
    for (let index = 0; index < 6; index += 1) {
      const change = parseObjectId(
        await repository.commit({
          ref: `refs/heads/c${index}`,
          parents: [base],
          files: { [`f${index}`]: 'x' },
        }),
      );
      steps.push({ change, message: `m${index}` });
    }
    // What is a file of its own is read without git.
    await repository.git('repack', '-adq');
    await using open = openRepository(repository.path);
    await open.chain.merge(base, steps.slice(0, 2));
    process.kill(open.mergeTree.pid()!, 'SIGKILL');
    process.kill(open.reader.pid()!, 'SIGKILL');
    expect((await open.chain.merge(base, steps.slice(0, 4))).kind).toBe('merged');
    const running = open.chain.merge(base, steps);
    process.kill(open.reader.pid()!, 'SIGKILL');
    const merging = open.mergeTree.pid();
    if (merging !== undefined) process.kill(merging, 'SIGKILL');
    const outcome = await running;
    await using fresh = openRepository(repository.path, 'process-per-merge');
    expect(outcome).toEqual(await fresh.chain.merge(base, steps));
  });

  it('gives the same results in each mode', async () => {
    await using repository = await createGitRepository();
    const base = parseObjectId(await repository.commit({ files: { a: '1', b: '1' } }));
    const one = parseObjectId(
      await repository.commit({ ref: 'refs/heads/1', parents: [base], files: { a: '2' } }),
    );
    const two = parseObjectId(
      await repository.commit({ ref: 'refs/heads/2', parents: [base], files: { a: '3', b: '2' } }),
    );
    await using cached = openRepository(repository.path, 'unbuffered-coprocess');
    await using single = openRepository(repository.path, 'process-per-merge');
    for (const [ours, theirs] of [
      [base, one],
      [one, two],
      [two, base],
    ] as const) {
      expect(await cached.mergeTree.merge(ours, theirs)).toEqual(await single.mergeTree.merge(ours, theirs));
    }
  });

  it('reports paths of a conflict that are not plain text', async () => {
    await using repository = await createGitRepository();
    const names = ['with\nnewline', 'with "quotes"', 'tab\there', 'ümlaut', ' blank '];
    const raw = Buffer.from('caf\xe9', 'latin1');
    const make = async (ref: string, content: string, parents: string[]) =>
      parseObjectId(
        await repository.commit({
          ref,
          parents,
          files: Object.fromEntries(names.map(name => [name, content])),
          rawFiles: [[raw, content]],
        }),
      );
    const base = await make('refs/heads/main', 'base', []);
    const one = await make('refs/heads/one', 'one', [base]);
    const two = await make('refs/heads/two', 'two', [base]);
    for (const mode of ['unbuffered-coprocess', 'process-per-merge'] as const) {
      await using open = openRepository(repository.path, mode);
      const result = await open.mergeTree.merge(one, two);
      expect(result.kind === 'conflict' && result.files.toSorted()).toEqual(
        [...names, '"caf\\351"'].toSorted(),
      );
    }
  });
});

describe('the probe for merges', () => {
  it('finds a mode in which merges are answered', async () => {
    expect(['unbuffered-coprocess', 'coprocess']).toContain(
      await probeMergeTree(createGit({ identity: IDENTITY })),
    );
  });

  it('falls back to a process per merge when no coprocess answers', async () => {
    const git = createGit({ identity: IDENTITY });
    // As on a machine whose git buffers and that has no stdbuf: the process is there and stays silent.
    const sleeper = startHere({ file: '/bin/sleep', args: ['60'], cwd: '/', env: {} });
    const silent = { ...git, start: () => sleeper };
    expect(await probeMergeTree(silent, 100)).toBe('process-per-merge');
  });

  it('says so when there is no git', async () => {
    await expect(
      probeMergeTree(createGit({ identity: IDENTITY, program: '/nonexistent/git' })),
    ).rejects.toThrow('cannot start /nonexistent/git');
  });
});
