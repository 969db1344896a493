/**
 * git over smart HTTP, as git's own CGI program has it. What clients ask most is answered here (upload-pack-answer.ts): that program
 * is three processes for each request, and a story makes dozens. All else is its own answer, from a process that the helper of this
 * process starts: a fork of a process of tests is slow.
 */
import { readFileSync } from 'node:fs';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { startAside } from '../../src/git/starter/start-aside.ts';
import { answerUploadPack } from './upload-pack-answer.ts';

export interface CgiAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

/** A request, as the CGI program has it from a server of HTTP. */
interface GitHttpRequest {
  /** The whole environment. */
  readonly variables: Readonly<Record<string, string>>;
  /** Absent: empty. */
  readonly body?: Readable;
  /** Kills the process; what it printed until then is the answer. */
  readonly signal?: AbortSignal;
}

/** What was asked for has happened when this resolves. */
export async function serveHttpBackend({ variables, body, signal }: GitHttpRequest): Promise<CgiAnswer> {
  const place = /^(.*)\/(info\/refs|git-upload-pack)$/.exec(variables.PATH_INFO ?? '');
  const [, below = '', rest] = place ?? [];
  const at = `${variables.GIT_PROJECT_ROOT ?? ''}${below}`;
  const dir = [at, `${at}.git`].find(each => settingsOf(each) !== undefined);
  const settings = dir === undefined || variables.GIT_PROTOCOL !== 'version=2' ? undefined : settingsOf(dir);
  if (dir === undefined || settings === undefined) return runHttpBackend(variables, body, signal);
  if (rest === 'info/refs') {
    if (variables.QUERY_STRING !== 'service=git-upload-pack') return runHttpBackend(variables, body, signal);
    body?.resume();
    return greeting(variables, settings);
  }
  const question = body === undefined ? Buffer.alloc(0) : await buffer(body);
  // Whether this repository is served at all, and how, is in its greeting.
  const { status } = await greeting({ ...variables, PATH_INFO: `${below}/info/refs` }, settings);
  const answer = status === 200 ? await answerUploadPack(dir, question, hiddenRefs(variables)) : undefined;
  if (answer === undefined) return runHttpBackend(variables, Readable.from([question]), signal);
  const headers = {
    Expires: 'Fri, 01 Jan 1980 00:00:00 GMT',
    Pragma: 'no-cache',
    'Cache-Control': 'no-cache, max-age=0, must-revalidate',
    'Content-Type': 'application/x-git-upload-pack-result',
  };
  return { status: 200, headers, body: answer };
}

/** Undefined: no repository is here. */
function settingsOf(dir: string): string | undefined {
  try {
    return readFileSync(`${dir}/config`, 'utf8');
  } catch {
    return undefined;
  }
}

/** By settings of a repository: what it says of itself before it lists anything, in git's protocol 2. */
const greetings = new Map<string, Promise<CgiAnswer>>();

function greeting(variables: Readonly<Record<string, string>>, settings: string): Promise<CgiAnswer> {
  const known = greetings.get(settings);
  if (known !== undefined) return known;
  const asked = runHttpBackend({
    ...variables,
    REQUEST_METHOD: 'GET',
    QUERY_STRING: 'service=git-upload-pack',
    CONTENT_TYPE: '',
    HTTP_CONTENT_ENCODING: '',
  });
  greetings.set(settings, asked);
  asked.catch(() => greetings.delete(settings));
  return asked;
}

/** From the settings in the environment. */
function hiddenRefs(variables: Readonly<Record<string, string>>): readonly string[] {
  return Array.from({ length: Number(variables.GIT_CONFIG_COUNT ?? 0) }, (_, at) => at)
    .filter(at => variables[`GIT_CONFIG_KEY_${at}`] === 'uploadpack.hideRefs')
    .map(at => variables[`GIT_CONFIG_VALUE_${at}`] ?? '');
}

async function runHttpBackend(
  variables: Readonly<Record<string, string>>,
  body?: Readable,
  signal?: AbortSignal,
): Promise<CgiAnswer> {
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
  return readCgi(output);
}

/** Status 500: it printed no answer. */
function readCgi(output: Buffer): CgiAnswer {
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
