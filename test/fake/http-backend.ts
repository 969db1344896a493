/** git's own CGI program for smart HTTP, in a process that the helper of this process starts: a fork of a process of tests is slow. */
import type { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { startAside } from '../../src/git/starter/start-aside.ts';

export interface CgiAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

/**
 * Runs to its end: what it was asked for has happened when this resolves.
 *
 * @param variables the whole environment
 * @param body of the request; absent: empty
 * @param signal kills it; what it printed until then is the answer
 */
export async function runHttpBackend(
  variables: Readonly<Record<string, string>>,
  body?: Readable,
  signal?: AbortSignal,
): Promise<Buffer> {
  const child = startAside({ file: 'git', args: ['http-backend'], cwd: '/', env: variables });
  const kill = () => child.kill('SIGKILL');
  signal?.addEventListener('abort', kill);
  child.stdin.on('error', () => {}); // it may end before it has read everything: its answer says why
  if (body === undefined) child.stdin.end();
  else body.pipe(child.stdin);
  const output = await buffer(child.stdout);
  const end = await child.ended;
  signal?.removeEventListener('abort', kill);
  if (end.kind === 'not-started' || end.kind === 'lost') throw new Error(`git http-backend: ${end.reason}`);
  return output;
}

/** Status 500: it printed no answer. */
export function readCgi(output: Buffer): CgiAnswer {
  const end = output.indexOf('\r\n\r\n');
  if (end < 0) return { status: 500, headers: {}, body: Buffer.alloc(0) };
  const lines = output.subarray(0, end).toString('latin1').split('\r\n');
  const headers = Object.fromEntries(
    lines.map(line => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon), line.slice(colon + 1).trim()];
    }),
  );
  const { Status: status = '200', ...rest } = headers;
  return { status: Number.parseInt(status, 10), headers: rest, body: output.subarray(end + 4) };
}
