/**
 * A pipe for a job's standard output and error together, made as a FIFO.
 *
 * Node's own pipes are sockets: `echo x > /dev/stderr` in a job would fail with "No such device or address", and two of
 * them lose the order between the streams. An ordinary pipe would belong to the service's user and could not be opened
 * again by a job of another user; a FIFO has a mode. Its name is gone before the job starts.
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

/** @throws Error when there is no FIFO to be made in the temporary directory. */
export async function openOutputPipe(): Promise<OutputPipe> {
  const folder = await mkdtemp(join(tmpdir(), 'gatehouse-output-'));
  const path = join(folder, 'fifo');
  try {
    await makeFifo(path);
    const reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const writer = openSync(path, constants.O_WRONLY);
    return { writer, reader: new Socket({ fd: reader, readable: true, writable: false }) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** To be called after the start of the process, also of one that failed. */
export function closeWriter(pipe: OutputPipe): void {
  closeSync(pipe.writer);
}

function makeFifo(path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    execFile(
      'mkfifo',
      ['-m', '0622', path],
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
