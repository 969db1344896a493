/**
 * A process that starts a job in a control group as the spawner does, and is not scheduled again until the job holds all the memory it
 * wants: a busy machine, made certain.
 *
 *     node slow-fork.ts '<ChildCgroup as JSON>'     prints what limitMemory() returned; the exit status is 0
 */
import { spawn } from 'node:child_process';
import { inCgroups, limitMemory } from '../../../../src/executor/spawner/cgroup-of-child.ts';
import { killedFirst } from '../../../../src/executor/spawner/oom-score.ts';

const group = JSON.parse(process.argv[2] ?? '');
/** Holds 300 MB until it is killed: `tail` keeps what has no line end. */
const HOG = '(head -c 300000000 /dev/zero; sleep 60) | tail';
const MOMENT_MS = 2_000;

const child = killedFirst(() =>
  inCgroups([group], () => {
    const started = spawn('sh', ['-c', HOG], { stdio: 'ignore', detached: true });
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, MOMENT_MS);
    return started;
  }),
);
process.stdout.write(limitMemory([group]));
if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
