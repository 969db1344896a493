/**
 * The spawner process: see `protocol.ts`. It holds nothing but running jobs and ends when its channel closes, killing them
 * first; so nothing a job started outlives a `kill -9` of the service.
 */
import type { Server } from 'node:net';
import { closeInheritedDescriptors } from './inherited-descriptors.ts';
import { type JobProcess, startJobProcess } from './job-process.ts';
import { createLeash } from './leash.ts';
import { oomScoreProblem } from './oom-score.ts';
import type { FromSpawner, ProcessEnd, ToSpawner } from './protocol.ts';

closeInheritedDescriptors();
// What jobs and their checkouts write can be read by all, as people expect of a build.
process.umask(0o022);

const jobs = new Map<number, JobProcess>();
/** Sockets on their way to the service, and who waits until they are there. */
const underWay = new Map<number, () => void>();
/** Stops that arrived while their process was still being started. */
const stopEarly = new Map<number, ToSpawner & { type: 'stop' }>();

function say(message: FromSpawner): void {
  // Once the channel is closed no one listens; `disconnect` ends this process.
  if (process.connected) process.send?.(message);
}

async function start({ id, spec }: ToSpawner & { type: 'start' }): Promise<void> {
  const job = await startJobProcess(spec, socket => passOn(id, socket));
  jobs.set(id, job);
  if (job.pid !== undefined) say({ type: 'started', id, pid: job.pid });
  const early = stopEarly.get(id);
  if (early !== undefined) job.stop(early.mode);
  const end = await job.ended;
  forget(id);
  say({ type: 'ended', id, end });
}

/** Resolves when the service has it: until then nobody may connect, for who accepts here would lose the connection. */
function passOn(id: number, socket: Server): Promise<void> {
  return new Promise(resolve => {
    underWay.set(id, () => {
      underWay.delete(id);
      socket.close();
      resolve();
    });
    const message: FromSpawner = { type: 'listening', id };
    // After the channel closed there is nobody to pass it to; `disconnect` ends us. One that cannot be passed on (of another kind than
    // it claims, broken) is closed: the job runs without; without a callback the failure would end us, and all jobs with us.
    if (process.connected)
      process.send?.(message, socket, undefined, error => {
        if (error !== null) underWay.get(id)?.();
      });
  });
}

function forget(id: number): void {
  underWay.get(id)?.();
  jobs.delete(id);
  stopEarly.delete(id);
}

function failed(id: number, error: unknown): void {
  const end: ProcessEnd = {
    kind: 'not-started',
    reason: error instanceof Error ? error.message : String(error),
  };
  jobs.get(id)?.killNow();
  forget(id);
  say({ type: 'ended', id, end });
}

/** Milliseconds of silence the service is allowed; 0: any. */
const leashMs = Number(process.argv[2] ?? 0);
const leash =
  leashMs > 0
    ? createLeash(leashMs, () => {
        for (const job of jobs.values()) job.stop('immediate');
      })
    : undefined;

process.on('message', (message: ToSpawner) => {
  leash?.heard();
  switch (message.type) {
    case 'alive':
      break;
    case 'start':
      start(message).catch(error => failed(message.id, error));
      break;
    case 'taken':
      underWay.get(message.id)?.();
      break;
    case 'stop': {
      const job = jobs.get(message.id);
      if (job === undefined) stopEarly.set(message.id, message);
      else job.stop(message.mode);
      break;
    }
  }
});

process.on('disconnect', () => {
  for (const job of jobs.values()) job.killNow();
  process.exit(0);
});
// Ctrl-C in a terminal reaches the whole process group: the service decides what happens to its jobs, not the terminal.
process.on('SIGINT', () => undefined);
process.on('SIGTERM', () => undefined);
say({ type: 'ready', oomScoreProblem: oomScoreProblem() ?? null });
