/**
 * One process of a job inside the spawner: started, watched, stopped, and nothing of it remains when `ended` resolves.
 *
 *     starting ──► running ──► stopping {cause} ──► ended
 *                     └───────────────────────────────┘
 *
 * running  → stopping   timeout, a stop message, or too much output: SIGTERM to the job, after the grace SIGKILL to all of it
 * any      → ended      the main process is gone, its leftovers are killed, its output is read to the end
 */
import { type ChildProcess, type StdioOptions, spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { Server } from 'node:net';
import type { Readable } from 'node:stream';
import { createTail } from './capture.ts';
import { inCgroups, limitMemory } from './cgroup-of-child.ts';
import type { LineLog } from './line-log.ts';
import { killedFirst } from './oom-score.ts';
import { closeWriter, type OutputPipes } from './output-pipe.ts';
import { closeSink, openSink, type Sink } from './output-sink.ts';
import { type EndCause, MARK, type ProcessEnd, type ProcessSpec, type StopMode } from './protocol.ts';
import { hasEnded, type ReadyStage, type ReadyStages } from './ready-stage.ts';
import { isAlive, killStrays, killStraysUntilGone } from './stray-processes.ts';

/** After the main process ended and the rest was killed, how long an open pipe is still read. */
const DRAIN_MS = 1_000;
/** Longest delay a timer accepts; a timeout beyond 24 days is none. */
const MAX_TIMER_MS = 2_147_483_647;

/** A process inside the spawner; one that could not be started has ended already. */
export interface JobProcess {
  /** Undefined: it could not be started. */
  readonly pid: number | undefined;
  readonly ended: Promise<ProcessEnd>;
  /** Does nothing once it has ended; the first cause is the one reported. @param because default `stopped`. */
  stop(mode: StopMode, because?: EndCause): void;
  /** Kills everything immediately, without waiting for anything: the spawner itself is ending. */
  killNow(): void;
}

/** What the process takes from the spawner, and reports to it. */
export interface JobProcessDeps {
  readonly pipes: OutputPipes;
  readonly stages: Pick<ReadyStages, 'take'>;
  /** Takes the socket of a process that passes one; resolves when it has it. */
  readonly onListening: (socket: Server) => Promise<void>;
  /** Of `failureOutput`. */
  readonly onMatch: (source: string) => void;
}

export async function startJobProcess(
  spec: ProcessSpec,
  { pipes, stages, onListening, onMatch }: JobProcessDeps,
): Promise<JobProcess> {
  const stage = spec.staged === undefined ? undefined : await stages.take(spec.staged.stage);
  if (stage !== undefined) return continueStage(spec, stage, onMatch);
  const sink = await openSink(spec, () => pipes.take(), onMatch);
  const { child, reason, memory } = tryToSpawn(spec, sink);
  if (sink.kind === 'log') {
    closeWriter(sink.pipe);
    pipes.prepare();
  }
  if (child === undefined) {
    await closeSink(sink);
    return notStarted(reason);
  }
  if (spec.handsOver === true) takeSocket(child, onListening);
  const job = supervise(spec, child, sink);
  if (memory === 'exceeded') job.stop('immediate', 'memory-limit');
  return job;
}

async function continueStage(
  spec: ProcessSpec,
  { child, pipe }: ReadyStage,
  onMatch: (source: string) => void,
): Promise<JobProcess> {
  let sink: Sink | undefined;
  try {
    sink = await openSink(spec, async () => pipe, onMatch);
    // Its `exit` may have been emitted while the log was opened, and is not emitted again.
    if (hasEnded(child)) throw new Error('the stage of the job ended before the job began');
    const memory = limitMemory(spec.cgroups ?? []);
    child.stdin?.end(spec.staged?.script);
    giveSecrets(child, spec.secrets ?? '');
    const job = supervise(spec, child, sink);
    if (memory === 'exceeded') job.stop('immediate', 'memory-limit');
    return job;
  } catch (error) {
    // The stage ends with its input.
    child.stdin?.end();
    pipe.reader.destroy();
    if (sink !== undefined) await closeSink(sink);
    throw error;
  }
}

function tryToSpawn(
  spec: ProcessSpec,
  sink: Sink,
): { readonly child?: ChildProcess; readonly reason: string; readonly memory?: 'limited' | 'exceeded' } {
  const [program = '', ...args] = spec.argv;
  const mark = 'mark' in spec.reach ? { [MARK]: spec.reach.mark } : {};
  let filter: number | undefined;
  let child: ChildProcess | undefined;
  try {
    filter = spec.seccomp === undefined ? undefined : openSync(spec.seccomp, 'r');
    const stdio = stdioOf(spec, sink, filter);
    child = killedFirst(() =>
      inCgroups(spec.cgroups ?? [], () =>
        spawn(program, args, {
          cwd: spec.cwd,
          env: { ...spec.env, ...mark },
          stdio,
          // A session and a process group of its own.
          detached: true,
          ...spec.user,
        }),
      ),
    );
    if (spec.secrets !== undefined) giveSecrets(child, spec.secrets);
    return { child, reason: '', memory: limitMemory(spec.cgroups ?? []) };
  } catch (error) {
    // Thrown, not emitted, for arguments no process can have (a NUL byte), for a filter that cannot be read,
    // and for a control group we may not enter or cannot limit.
    signalGroup(child?.pid, 'SIGKILL');
    return { reason: error instanceof Error ? error.message : String(error) };
  } finally {
    if (filter !== undefined) closeSync(filter);
  }
}

/** The last descriptor. Bubblewrap reads it to its end before it starts the job. */
function giveSecrets({ stdio }: ChildProcess, secrets: string): void {
  const pipe = stdio.at(-1);
  if (pipe == null || !('end' in pipe)) return;
  // A sandbox that could not be set up has not read it; how the process ended says so.
  pipe.on('error', () => undefined);
  pipe.end(secrets);
}

/** Once: later messages on the channel are ignored, since it should be closed by then. */
function takeSocket(child: ChildProcess, onListening: (socket: Server) => Promise<void>): void {
  const hangUp = () => {
    if (child.connected) child.disconnect();
  };
  child.once('message', (_message, socket) => {
    if (socket instanceof Server) void onListening(socket).finally(hangUp);
    else hangUp();
  });
}

/** Descriptors 0 to 2, 3 for bubblewrap's status, 4 for passing a socket, then the filter. All others of the spawner are closed on exec. */
function stdioOf(spec: ProcessSpec, sink: Sink, filter: number | undefined): StdioOptions {
  const output = sink.kind === 'log' ? sink.pipe.writer : 'pipe';
  const more: ('pipe' | 'ipc' | number)[] = spec.reach.kind === 'namespace' ? ['pipe'] : [];
  if (spec.handsOver === true) more.push('ipc');
  if (filter !== undefined) more.push(filter);
  if (spec.secrets !== undefined) more.push('pipe');
  return ['ignore', output, output, ...more];
}

function notStarted(reason: string): JobProcess {
  return {
    pid: undefined,
    ended: Promise.resolve({ kind: 'not-started', reason }),
    stop: () => undefined,
    killNow: () => undefined,
  };
}

function supervise(spec: ProcessSpec, child: ChildProcess, sink: Sink): JobProcess {
  let cause: EndCause = 'itself';
  let over = false;
  let insider: number | undefined;
  let status = '';
  const timers = new Set<NodeJS.Timeout>();
  const tail = createTail(sink.kind === 'capture' ? sink.limit : 0);

  function later(ms: number, action: () => void): void {
    timers.add(setTimeout(action, Math.min(ms, MAX_TIMER_MS)));
  }

  function stop(mode: StopMode, because: EndCause = 'stopped'): void {
    if (over) return;
    if (cause === 'itself') cause = because;
    if (mode === 'immediate') {
      kill();
      return;
    }
    // bubblewrap would die of SIGTERM and take the job with it immediately: the job itself gets the signal, in its own group.
    if (insider !== undefined) signalGroup(insider, 'SIGTERM');
    else if (spec.reach.kind === 'namespace') kill();
    else signalGroup(child.pid, 'SIGTERM');
    later(spec.graceMs, kill);
  }

  function kill(): void {
    signalGroup(child.pid, 'SIGKILL');
    if (over) return;
    if (insider !== undefined) signalGroup(insider, 'SIGKILL');
    killStrays(spec);
  }

  async function readLog(reader: Readable, log: LineLog): Promise<void> {
    for await (const chunk of reader) {
      await log.write(chunk);
      if (log.full()) stop('immediate', 'output-limit');
    }
  }

  const readings: Promise<unknown>[] = [];
  if (sink.kind === 'log') readings.push(readLog(sink.pipe.reader, sink.log));
  else
    for (const stream of [child.stdout, child.stderr]) if (stream !== null) readings.push(tail.read(stream));
  const statusPipe = child.stdio[3];
  if (statusPipe != null && 'setEncoding' in statusPipe) {
    statusPipe.setEncoding('utf8').on('data', (text: string) => {
      status += text;
      insider ??= insiderOf(status);
    });
  }
  if (spec.timeoutMs !== null) later(spec.timeoutMs, () => stop('graceful', 'timeout'));

  async function finish(code: number | null, signal: string | null): Promise<ProcessEnd> {
    over = true;
    for (const timer of timers) clearTimeout(timer);
    signalGroup(child.pid, 'SIGKILL');
    await killStraysUntilGone(spec);
    if (insider !== undefined) await emptied(insider);
    const drained = await withinDeadline(Promise.allSettled(readings), DRAIN_MS);
    if (!drained) for (const stream of [child.stdout, child.stderr]) stream?.destroy();
    await closeSink(sink);
    if (spec.reach.kind === 'namespace' && cause === 'itself' && !status.includes('"exit-code"')) {
      const output = sink.kind === 'log' ? sink.log.lastLine() : tail.text().trim();
      return {
        kind: 'not-started',
        reason: `the sandbox could not be set up: ${output || 'no reason given'}`,
      };
    }
    const written = sink.kind === 'log' ? sink.log.written() : tail.bytes();
    return { kind: 'ended', because: cause, code, signal, output: tail.text(), written };
  }

  const ended = new Promise<ProcessEnd>((resolve, reject) => {
    child.once('error', error => {
      if (child.pid !== undefined) return;
      void closeSink(sink).then(() => resolve({ kind: 'not-started', reason: error.message }), reject);
    });
    // `exit`, not `close`: a daemon may hold the pipe open for ever.
    child.once('exit', (code, signal) => void finish(code, signal).then(resolve, reject));
  });
  return { pid: child.pid, ended, stop, killNow: kill };
}

/** Pid, seen from here, of the first process in the sandbox: it leads the session of the job. */
function insiderOf(status: string): number | undefined {
  const pid = /"child-pid":\s*(\d+)/.exec(status)?.[1];
  return pid === undefined ? undefined : Number(pid);
}

/**
 * Waits until the first process of the sandbox is dead, and with it, as the kernel guarantees, everything in its pid
 * namespace: bubblewrap itself may end a moment earlier. There is no event for this: the process is not our child.
 */
async function emptied(insider: number): Promise<void> {
  for (let wait = 1; isAlive(insider); wait = Math.min(wait * 2, 50)) {
    signalGroup(insider, 'SIGKILL');
    await new Promise(resolve => setTimeout(resolve, wait));
  }
}

function signalGroup(pid: number | undefined, signal: NodeJS.Signals): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, signal);
  } catch (error) {
    // Gone already, or (EPERM) only zombies of another user remain: nothing to signal.
    if (!(error instanceof Error && 'code' in error && (error.code === 'ESRCH' || error.code === 'EPERM')))
      throw error;
  }
}

function withinDeadline(work: Promise<unknown>, ms: number): Promise<boolean> {
  return new Promise(resolve => {
    const timer = setTimeout(() => resolve(false), ms);
    void work.then(() => {
      clearTimeout(timer);
      resolve(true);
    });
  });
}
