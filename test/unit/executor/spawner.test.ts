import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { ProcessSpec } from '../../../src/executor/spawner/protocol.ts';
import { createSpawner, type Spawner } from '../../../src/executor/spawner/spawner.ts';
import { slowness } from '../../fake/slowness.ts';
import { until } from './fixture.ts';
import { processesWith } from './processes.ts';

let folder: string;
let spawner: Spawner;
const crashes: string[] = [];
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gatehouse-spawner-'));
  spawner = createSpawner({ onCrash: reason => void crashes.push(reason) });
  await spawner.ready();
});
afterAll(async () => {
  await spawner.close();
  await rm(folder, { recursive: true, force: true });
});

function shell(body: string, changes: Partial<ProcessSpec> = {}): ProcessSpec {
  return {
    argv: ['/bin/sh', '-c', body],
    env: { PATH: '/usr/bin:/bin' },
    cwd: '/',
    user: null,
    output: { kind: 'capture', limit: 1000 },
    timeoutMs: 20_000,
    graceMs: 300,
    reach: { kind: 'group' },
    ...changes,
  };
}

function isThere(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

describe('the spawner', () => {
  test('says how a process ended and what it printed', async () => {
    const end = await spawner.start(shell('echo out; echo err >&2; exit 3')).ended;
    expect(end).toMatchObject({ kind: 'ended', because: 'itself', code: 3, signal: null });
    expect(end.kind === 'ended' && end.output.split('\n').toSorted()).toEqual(['', 'err', 'out']);
  });

  test('lets the kernel kill its jobs first when memory runs out, and keeps its own score', async () => {
    expect(await spawner.ready()).toEqual({ oomScoreProblem: null });
    const end = await spawner.start(shell('cat /proc/self/oom_score_adj')).ended;
    expect(end).toMatchObject({ output: '1000\n' });
    const score = (pid: number | 'self' = 'self') => readFile(`/proc/${pid}/oom_score_adj`, 'latin1');
    expect(await score(spawner.pid())).toBe(await score());
  });

  test('keeps the end of what is captured', async () => {
    const end = await spawner.start(shell('seq 1 10000; echo last')).ended;
    expect(end.kind === 'ended' && end.output).toMatch(/10000\nlast\n$/);
    expect(end).toMatchObject({ written: 1000 });
  });

  test('says why a program cannot be started', async () => {
    expect(await spawner.start(shell('', { argv: ['/no/such/program'] })).ended).toMatchObject({
      kind: 'not-started',
      reason: expect.stringContaining('ENOENT'),
    });
    expect(await spawner.start(shell('', { argv: ['/bin/echo', 'a\0b'] })).ended).toMatchObject({
      kind: 'not-started',
    });
  });

  test('gives a process its environment, its directory and three descriptors, nothing else', async () => {
    const end = await spawner.start(
      shell('pwd; env | grep -vE "^(PWD|OLDPWD|SHLVL|_)="; exec ls /proc/self/fd', {
        cwd: '/usr',
        env: { PATH: '/usr/bin:/bin', ONE: '1' },
      }),
    ).ended;
    const lines = end.kind === 'ended' ? end.output.split('\n') : [];
    expect(lines.slice(0, 3).toSorted()).toEqual(['/usr', 'ONE=1', 'PATH=/usr/bin:/bin'].toSorted());
    // The last is the directory that `ls` itself reads.
    expect(lines.slice(3)).toEqual(['0', '1', '2', '3', '']);
  });

  test('asks with SIGTERM first and kills after the grace, the whole group', async () => {
    const polite = spawner.start(
      shell("trap 'echo bye; exit 0' TERM; echo up; while :; do sleep 0.05; done"),
    );
    const deaf = spawner.start(shell("trap '' TERM; sleep 4731 & wait; sleep 4731"));
    await until(
      async () => ((await processesWith('4731')).length > 0 ? true : undefined),
      'the processes to start',
    );
    polite.stop('graceful');
    deaf.stop('graceful');
    expect(await polite.ended).toMatchObject({
      because: 'stopped',
      code: 0,
      output: expect.stringContaining('bye'),
    });
    expect(await deaf.ended).toMatchObject({ because: 'stopped', signal: 'SIGKILL' });
    await until(
      async () => ((await processesWith('4731')).length === 0 ? true : undefined),
      'the processes to be gone',
    );
  });

  test('obeys a stop that arrives while the process is being started', async () => {
    const running = spawner.start(shell('sleep 4732'));
    running.stop('immediate');
    expect(await running.ended).toMatchObject({ because: 'stopped' });
  });

  test('ends a process at its timeout', async () => {
    const before = performance.now();
    expect(await spawner.start(shell('sleep 4733', { timeoutMs: 200 })).ended).toMatchObject({
      because: 'timeout',
      signal: 'SIGTERM',
    });
    expect(performance.now() - before).toBeLessThan(5_000 * slowness());
  });

  test('writes both streams to one log in their order, a time stamp before each line', async () => {
    const path = join(folder, 'order.log');
    const end = await spawner.start(
      shell('for i in 1 2 3 4 5; do echo out $i; echo err $i >&2; done; printf unfinished', {
        output: { kind: 'log', path, limit: 100_000 },
      }),
    ).ended;
    const text = await readFile(path, 'utf8');
    expect(text.replace(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{6} \| /gm, '')).toBe(
      `${[1, 2, 3, 4, 5].map(i => `out ${i}\nerr ${i}\n`).join('')}unfinished\n`,
    );
    expect(end).toMatchObject({ written: Buffer.byteLength(text) });
  });

  test('does not wait for a daemon that keeps the output open, and kills it by its mark', async () => {
    const path = join(folder, 'daemon.log');
    const end = await spawner.start(
      shell('setsid sleep 4734 & sleep 0.1; echo done', {
        output: { kind: 'log', path, limit: 1000 },
        reach: { kind: 'marked', mark: 'test-4734' },
      }),
    ).ended;
    expect(end).toMatchObject({ because: 'itself', code: 0 });
    expect(await processesWith('4734')).toEqual([]);
  });

  test('that dies takes its processes along, says so, and is replaced', async () => {
    // What it prints is heard after its pid: only a process that is known can be ended without its helper.
    const begun = Promise.withResolvers<string>();
    const output = {
      kind: 'log',
      path: join(folder, 'dies.log'),
      limit: 1000,
      failureOutput: ['up'],
    } as const;
    const running = spawner.start(shell('echo up; sleep 4735', { output }), undefined, begun.resolve);
    await begun.promise;
    const helper = spawner.pid();
    process.kill(helper ?? 0, 'SIGKILL');
    expect(await running.ended).toMatchObject({ kind: 'lost', reason: expect.stringContaining('SIGKILL') });
    await until(
      async () => ((await processesWith('4735')).length === 0 ? true : undefined),
      'the process to be gone',
    );
    expect(crashes).toHaveLength(1);
    expect(await spawner.start(shell('echo again')).ended).toMatchObject({ output: 'again\n' });
    expect(spawner.pid()).not.toBe(helper);
  });

  test('kills what runs when it is closed', async () => {
    const other = createSpawner({ onCrash: reason => void crashes.push(reason) });
    const running = other.start(shell('sleep 4736'));
    await until(
      async () => ((await processesWith('4736')).length > 0 ? true : undefined),
      'the process to start',
    );
    await other.close();
    expect(await running.ended).toMatchObject({ kind: 'lost' });
    await until(
      async () => ((await processesWith('4736')).length === 0 ? true : undefined),
      'the processes to be gone',
    );
    expect(crashes).toHaveLength(1);
  });

  test('that is closed without jobs serves the next one, and its stages end', async () => {
    const first = createSpawner({ onCrash: reason => void crashes.push(reason) });
    await first.ready();
    const helper = first.pid();
    await first.start(shell('true')).ended;
    // A shell that waits for its job, with a name by which it is found.
    first.prepare({
      argv: ['/bin/sh', '-s', '4737'],
      script: '',
      env: { PATH: '/usr/bin:/bin' },
      cgroups: [],
    });
    await until(
      async () => ((await processesWith('4737')).length > 0 ? true : undefined),
      'the stage to stand',
    );
    await first.close();
    await until(
      async () => ((await processesWith('4737')).length === 0 ? true : undefined),
      'the stage to be gone',
    );
    expect(() => first.start(shell('true'))).toThrow('closed');
    await using second = createSpawner({ onCrash: reason => void crashes.push(reason) });
    await using third = createSpawner({ onCrash: reason => void crashes.push(reason) });
    await Promise.all([second.ready(), third.ready()]);
    expect(second.pid()).toBe(helper);
    expect(third.pid()).not.toBe(helper);
    expect(await second.start(shell('echo mine')).ended).toMatchObject({ output: 'mine\n' });
    // One that was closed leaves the next one alone.
    await first.close();
    expect(await second.start(shell('echo still')).ended).toMatchObject({ output: 'still\n' });
    expect(crashes).toHaveLength(1);
  });

  test('serves only those who want the same limit of silence, and is replaced where it has died unused', async () => {
    const first = createSpawner({ onCrash: reason => void crashes.push(reason), silenceLimitMs: 60_000 });
    await first.ready();
    const helper = first.pid() ?? 0;
    await first.close();
    await using other = createSpawner({
      onCrash: reason => void crashes.push(reason),
      silenceLimitMs: 70_000,
    });
    await other.ready();
    expect(other.pid()).not.toBe(helper);
    process.kill(helper, 'SIGKILL');
    await until(async () => (isThere(helper) ? undefined : true), 'the unused one to be gone');
    await using next = createSpawner({
      onCrash: reason => void crashes.push(reason),
      silenceLimitMs: 60_000,
    });
    expect(await next.start(shell('echo new')).ended).toMatchObject({ output: 'new\n' });
    expect(crashes).toHaveLength(1);
  });

  test('ends when it was not wanted for ten seconds', async () => {
    const last = createSpawner({ onCrash: reason => void crashes.push(reason), silenceLimitMs: 80_000 });
    await last.ready();
    const helper = last.pid() ?? 0;
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    try {
      await last.close();
      expect(isThere(helper)).toBe(true);
      vi.advanceTimersByTime(10_000);
    } finally {
      vi.useRealTimers();
    }
    await until(async () => (isThere(helper) ? undefined : true), 'the unused one to end');
    expect(crashes).toHaveLength(1);
  });
});
