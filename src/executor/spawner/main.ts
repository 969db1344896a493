/**
 * The spawner process: see `protocol.ts`. It holds only running jobs and ends when its channel closes, killing them
 * first; so nothing a job started outlives a `kill -9` of the service.
 */
import type { Server } from 'node:net';
import { closeInheritedDescriptors } from './inherited-descriptors.ts';
import { type JobProcess, startJobProcess } from './job-process.ts';
import { oomScoreProblem } from './oom-score.ts';
import { createOutputPipes } from './output-pipe.ts';
import type { FromSpawner, ProcessEnd, ToSpawner } from './protocol.ts';
import { createReadyStages } from './ready-stage.ts';
import { createWatchdog } from './watchdog.ts';

closeInheritedDescriptors();
// Files of jobs and their checkouts are readable by all, as people expect of a build.
process.umask(0o022);

const pipes = createOutputPipes();
const stages = createReadyStages(pipes);
const jobs = new Map<number, JobProcess>();
/** Sockets on their way to the service, with their callbacks. */
const underWay = new Map<number, () => void>();
/** Stops that arrived while their process was still being started. */
const stopEarly = new Map<number, ToSpawner & { type: 'stop' }>();

function send(message: FromSpawner): void {
  // Once the channel is closed, or the service was killed, there is no receiver; `disconnect` ends this process.
  if (process.connected) process.send?.(message, undefined, undefined, () => {});
}

async function start({ id, spec }: ToSpawner & { type: 'start' }): Promise<void> {
  const job = await startJobProcess(spec, {
    pipes,
    stages,
    onListening: socket => passOn(id, socket),
    onMatch: source => send({ type: 'matched', id, source }),
  });
  jobs.set(id, job);
  if (job.pid !== undefined) send({ type: 'started', id, pid: job.pid });
  const early = stopEarly.get(id);
  if (early !== undefined) job.stop(early.mode);
  const end = await job.ended;
  forget(id);
  send({ type: 'ended', id, end });
}

/** Resolves when the service has it: until then no connection may be accepted, since one accepted here would be lost. */
function passOn(id: number, socket: Server): Promise<void> {
  return new Promise(resolve => {
    underWay.set(id, () => {
      underWay.delete(id);
      socket.close();
      resolve();
    });
    const message: FromSpawner = { type: 'listening', id };
    // After the channel closed there is no receiver; `disconnect` ends us. A socket that cannot be passed (of another kind than it claims,
    // broken) is closed: the job runs without it; without a callback the failure would end us, and all jobs with us.
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
  send({ type: 'ended', id, end });
}

/** Milliseconds the service may be silent; 0: no limit. */
const silenceLimitMs = Number(process.argv[2] ?? 0);
const watchdog =
  silenceLimitMs > 0
    ? createWatchdog(silenceLimitMs, () => {
        for (const job of jobs.values()) job.stop('immediate');
      })
    : undefined;

process.on('message', (message: ToSpawner) => {
  watchdog?.signOfLife();
  switch (message.type) {
    case 'alive':
      break;
    case 'start':
      start(message).catch(error => failed(message.id, error));
      break;
    case 'prepare':
      stages.prepare(message.id, message.stage);
      break;
    case 'discard':
      stages.discard(message.id);
      break;
    case 'leave':
      stages.discardAll();
      send({ type: 'left' });
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
// Ctrl-C in a terminal reaches the whole process group: the service decides about its jobs, not the terminal.
process.on('SIGINT', () => undefined);
process.on('SIGTERM', () => undefined);
send({ type: 'ready', oomScoreProblem: oomScoreProblem() ?? null });
