/**
 * A pipe for a job's standard output and error together, made as a FIFO.
 *
 * Node's own pipes are sockets: `echo x > /dev/stderr` in a job would fail with "No such device or address", and two of
 * them lose the order between the streams. An ordinary pipe would belong to the service's user and could not be opened
 * again by a job of another user; a FIFO has a mode. Its name is gone before the job starts.
 *
 * Only a process can make one, which takes longer than what a job's start may: several are made at a time, ahead.
 */
import { execFile } from 'node:child_process';
import { closeSync, constants, openSync, rmSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Both ends of it, in the spawner. */
export interface OutputPipe {
  /** For the job; close it once the job has it, or the reader never sees the end. */
  readonly writer: number;
  readonly reader: Socket;
}

/** Made by one process. */
const AHEAD = 4;

/** The pipes that are ready, as descriptors; the spawner has one. */
export interface OutputPipes {
  /** @throws Error when there is no FIFO to be made in the temporary directory; the next call tries again. */
  take(): Promise<OutputPipe>;
  /** Makes those for the next jobs, where none is left; a failure is for {@link take} to report. */
  prepare(): void;
}

export function createOutputPipes(): OutputPipes {
  const ready: Ends[] = [];
  let making: Promise<void> | undefined;

  function make(): Promise<void> {
    making ??= makePipes(AHEAD)
      .then(made => void ready.push(...made))
      .finally(() => {
        making = undefined;
      });
    return making;
  }

  async function taken(): Promise<Ends> {
    for (;;) {
      const next = ready.pop();
      if (next !== undefined) return next;
      await make();
    }
  }

  return {
    async take() {
      const { reader, writer } = await taken();
      return { writer, reader: new Socket({ fd: reader, readable: true, writable: false }) };
    },
    prepare() {
      if (ready.length === 0) make().catch(() => undefined);
    },
  };
}

/** To be called after the start of the process, also of one that failed. */
export function closeWriter(pipe: OutputPipe): void {
  closeSync(pipe.writer);
}

/** Descriptors, closed on exec. */
interface Ends {
  readonly reader: number;
  readonly writer: number;
}

async function makePipes(count: number): Promise<Ends[]> {
  const folder = await mkdtemp(join(tmpdir(), 'gatehouse-output-'));
  const paths = Array.from({ length: count }, (_, at) => join(folder, `fifo${at}`));
  try {
    await makeFifos(paths);
    return openAll(paths);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** All of them or, with an error, none. */
function openAll(paths: readonly string[]): Ends[] {
  const open: number[] = [];
  function opened(path: string, flags: number): number {
    const fd = openSync(path, flags);
    open.push(fd);
    return fd;
  }
  try {
    return paths.map(path => {
      const reader = opened(path, constants.O_RDONLY | constants.O_NONBLOCK);
      return { reader, writer: opened(path, constants.O_WRONLY) };
    });
  } catch (error) {
    for (const fd of open) closeSync(fd);
    throw error;
  }
}

function makeFifos(paths: readonly string[]): Promise<void> {
  return new Promise((resolve, reject) => {
    execFile(
      'mkfifo',
      ['-m', '0622', ...paths],
      { env: { PATH: process.env.PATH ?? '/usr/bin:/bin' } },
      (error, _stdout, stderr) => {
        if (error === null) resolve();
        else
          reject(
            new Error(`cannot make a FIFO for the job's output: ${stderr.trim() || error.message}`, {
              cause: error,
            }),
          );
      },
    );
  });
}
