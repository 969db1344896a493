/** A process that was stopped knows, with the first thing it asks, what became of its session meanwhile. */
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { create } from '../../../../src/store/port.ts';
import { eventually } from '../../../conformance/store/eventually.ts';
import { freshRoot } from '../../../conformance/store/fresh-root.ts';
import { describeOnZooKeeper, sharedZooKeeper } from '../../../setup/zookeeper.ts';
import { openSessions } from './open-sessions.ts';

/**
 * @param timeoutMs of its session.
 * @param timeouts how many of them it is stopped for.
 * @param until what it writes in the end: a busy server takes its time.
 */
async function stoppedFor(timeoutMs: number, timeouts: number, until: string) {
  const server = sharedZooKeeper();
  await using sessions = openSessions([server], { sessionTimeoutMs: 10_000 });
  const witness = await sessions.connect();
  const root = freshRoot();
  const script = new URL('paused-process.ts', import.meta.url).pathname;
  const child = spawn(process.execPath, [script, String(server.port), String(timeoutMs), root], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  try {
    let lines: string[] = [];
    createInterface({ input: child.stdout }).on('line', line => lines.push(line));
    await eventually(() => expect(lines.length).toBeGreaterThan(5));
    child.kill('SIGSTOP');
    await pause(timeouts * timeoutMs);
    lines = [];
    if (timeouts > 2) {
      // Another process is the holder now.
      await eventually(async () => expect(await witness.get(`${root}/mine`)).toBeUndefined());
      await witness.multi([create(`${root}/mine`, Buffer.from('of a successor'))]);
    }
    child.kill('SIGCONT');
    await eventually(() => expect(lines.filter(line => line === until).length).toBeGreaterThan(5));
    await witness.sync();
    const node = await witness.get(`${root}/mine`);
    const woke = lines.filter(line => line.startsWith('woke '));
    return {
      woke,
      lines: lines.filter(line => !woke.includes(line)),
      data: Buffer.from(node?.data ?? []).toString(),
    };
  } finally {
    child.kill('SIGKILL');
  }
}

describeOnZooKeeper('a process that was stopped', () => {
  test.concurrent('for three timeouts believes and writes nothing afterwards', async () => {
    const lost = 'lost SessionExpired lost';
    const { woke, lines, data } = await stoppedFor(1500, 3, lost);
    // The first line may belong to a write that was made before the process was stopped.
    expect(woke[0]).toBe('woke lost');
    expect(lines[0]).toMatch(/ lost$/);
    expect(new Set(lines.slice(1))).toEqual(new Set([lost]));
    expect(data).toBe('of a successor');
  });

  test.concurrent('for most of the timeout does not take its session for good until it has proved it', async () => {
    // Long enough that a busy machine, which wakes both of us late, does not end the session.
    const { woke, lines } = await stoppedFor(12_000, 0.55, 'connected written connected');
    expect(woke[0]).toBe('woke suspended');
    expect(lines.filter(line => line.includes('lost'))).toEqual([]);
  });
});
