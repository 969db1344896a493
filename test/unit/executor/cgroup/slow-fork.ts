/**
 * A process that starts a job in a control group as the spawner does, and is not scheduled again until the job holds twice the memory it
 * may have: a busy machine, made certain.
 *
 *     node slow-fork.ts '<ChildCgroup as JSON>'     prints what limitMemory() returned; the exit status is 0
 */
import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { inCgroups, limitMemory } from '../../../../src/executor/spawner/cgroup-of-child.ts';
import { killedFirst } from '../../../../src/executor/spawner/oom-score.ts';

const group = JSON.parse(process.argv[2] ?? '');
const { path, memoryLimits } = group;
/** Holds 300 MB until it is killed: `tail` keeps what has no line end. */
const HOG = '(head -c 300000000 /dev/zero; sleep 90) | tail';
const MOMENT_MS = 50;
const LONGEST_MS = 60_000;

/** Bytes, of version 2 or 1. */
function held(): number {
  const name = ['memory.current', 'memory.usage_in_bytes'].find(file => existsSync(join(path, file))) ?? '';
  return Number(readFileSync(join(path, name), 'latin1'));
}

const child = killedFirst(() =>
  inCgroups([group], () => {
    const started = spawn('sh', ['-c', HOG], { stdio: 'ignore', detached: true });
    for (let waited = 0; held() < 2 * memoryLimits[0].value && waited < LONGEST_MS; waited += MOMENT_MS)
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, MOMENT_MS);
    return started;
  }),
);
process.stdout.write(limitMemory([group]));
if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
