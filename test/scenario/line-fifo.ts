/** A FIFO in which scripts leave lines for the test: no polling, no port, nothing but `echo`. */
import { constants, openSync } from 'node:fs';
import { Socket } from 'node:net';
import { startAside } from '../../src/git/starter/start-aside.ts';

/** By one process for all. */
export async function makeFifos(paths: readonly string[]): Promise<void> {
  const env = { PATH: process.env.PATH ?? '/usr/bin:/bin' };
  const made = startAside({ file: 'mkfifo', args: ['-m', '666', ...paths], cwd: '/', env });
  made.stdin.end();
  const end = await made.ended;
  if (end.kind !== 'exited' || end.code !== 0)
    throw new Error(`mkfifo ${paths.join(' ')}: ${JSON.stringify(end)}`);
}

/** Lines up to PIPE_BUF (4096 bytes) arrive whole and in the order they were written, also from several writers. */
export function openLineFifo(path: string, onLine: (line: string) => void): Disposable {
  // For both directions, so that it neither blocks nor ends while there is no writer.
  const fd = openSync(path, constants.O_RDWR | constants.O_NONBLOCK);
  const socket = new Socket({ fd, readable: true, writable: false });
  let rest = '';
  socket.setEncoding('utf8').on('data', chunk => {
    const lines = (rest + String(chunk)).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) onLine(line);
  });
  return { [Symbol.dispose]: () => void socket.destroy() };
}
