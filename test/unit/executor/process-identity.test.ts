import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { expect, test, vi } from 'vitest';
import { isRunning, parseProcessIdentity, thisProcess } from '../../../src/executor/process-identity.ts';

const MODULE = new URL('../../../src/executor/process-identity.ts', import.meta.url).href;

test('a process that was killed does not run, even while its parent has not asked for its end', async () => {
  const script = `import { thisProcess } from '${MODULE}'; console.log(JSON.stringify(thisProcess())); setInterval(() => {}, 1000);`;
  // Its parent becomes a program that never asks.
  const parent = spawn(
    'sh',
    ['-c', '"$0" --input-type=module-typescript -e "$1" & exec sleep 100', process.execPath, script],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  try {
    const [line] = await once(parent.stdout.setEncoding('utf8'), 'data');
    const identity = parseProcessIdentity(line);
    if (identity === undefined) expect.unreachable();
    expect(isRunning(identity)).toBe(true);
    process.kill(identity.pid, 'SIGKILL');
    await vi.waitUntil(() => !isRunning(identity), { timeout: 20_000 });
    expect(await readFile(`/proc/${identity.pid}/stat`, 'latin1')).toContain(') Z ');
  } finally {
    parent.kill('SIGKILL');
  }
});

test('another process with its pid is not the one that ran', () => {
  const identity = thisProcess();
  expect(isRunning(identity)).toBe(true);
  expect(isRunning({ ...identity, started: `${identity.started}0` })).toBe(false);
});
