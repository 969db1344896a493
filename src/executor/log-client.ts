/**
 * Fetches a part of a build's log from the executor that ran it, see `log-server.ts`:
 *
 *     const part = await fetchLog({ address: 'http://ci1:9443', secret }, build, 0, 65_536, AbortSignal.timeout(5_000));
 *
 * The address comes from the registry of components, which every process with write access to the store can fill: only a token for
 * this one log is sent there, no redirect is followed, and no more is read than was requested.
 */
import { Readable } from 'node:stream';
import type { Secret } from '../lib/secret.ts';
import type { KeptFiles } from '../model/kept-files.ts';
import { logAuthorization } from './log-access.ts';
import type { LogPart } from './log-file.ts';
import { COMPLETE_HEADER, NEXT_HEADER } from './log-server.ts';
import { parseKeptFiles } from './log-store/kept-files.ts';

/** The executor to ask: its registered address, and this machine's `[executor] log_token`. */
export interface LogPlace {
  /** `http://host:port` as the executor registered it. */
  readonly address: string;
  /** Undefined: no token is set here, and none is sent. */
  readonly secret: Secret | undefined;
}

/**
 * @returns undefined when the executor has no such log.
 * @throws Error when the answer is not as expected; the message describes it.
 */
export async function fetchLog(
  { address, secret }: LogPlace,
  build: string,
  offset: number,
  limit: number,
  signal: AbortSignal,
): Promise<LogPart | undefined> {
  const response = await fetch(`${address}/logs/${build}?offset=${offset}&limit=${limit}`, {
    redirect: 'error',
    signal,
    ...(secret === undefined ? {} : { headers: { authorization: logAuthorization(secret, build) } }),
  });
  if (response.status === 404) {
    await response.body?.cancel();
    return undefined;
  }
  if (response.status !== 200) {
    const firstLine = (await response.text()).split('\n')[0]?.slice(0, 200) ?? '';
    throw new Error(`the executor at ${address} answered ${response.status}: ${firstLine}`);
  }
  const next = Number(response.headers.get(NEXT_HEADER) ?? Number.NaN);
  const length = Number(response.headers.get('content-length') ?? Number.NaN);
  if (!Number.isSafeInteger(next) || !(length <= limit)) {
    await response.body?.cancel();
    throw new Error(`the server at ${address} is not an executor`);
  }
  const bytes = Buffer.from(await response.arrayBuffer());
  return { bytes, next, complete: response.headers.get(COMPLETE_HEADER) === 'true' };
}

/** Bytes of a list: ten thousand files with the longest paths. */
const LONGEST_LIST = 50_000_000;

/** @returns undefined when the executor has no files of the build. @throws Error when the answer is not as expected. */
export async function fetchKeptFiles(
  place: LogPlace,
  build: string,
  signal: AbortSignal,
): Promise<KeptFiles | undefined> {
  const response = await ask(place, build, '/files', signal);
  if (response === undefined) return undefined;
  if (!(Number(response.headers.get('content-length') ?? Number.NaN) <= LONGEST_LIST)) {
    await response.body?.cancel();
    throw new Error(`the server at ${place.address} is not an executor`);
  }
  return parseKeptFiles(await response.text());
}

/** Compressed by gzip. @returns undefined when the executor has no such file. @throws Error when the answer is not as expected. */
export async function fetchKeptFile(
  place: LogPlace,
  build: string,
  sha256: string,
  signal: AbortSignal,
): Promise<Readable | undefined> {
  const response = await ask(place, build, `/files/${sha256}`, signal);
  return response?.body == null ? undefined : Readable.fromWeb(response.body as NodeStream);
}

/** Compressed by gzip. @returns undefined when the executor has it not, or not packed. @throws Error when the answer is not as expected. */
export async function fetchPackedLog(
  place: LogPlace,
  build: string,
  signal: AbortSignal,
): Promise<Readable | undefined> {
  const response = await ask(place, build, '/packed', signal);
  return response?.body == null ? undefined : Readable.fromWeb(response.body as NodeStream);
}

type NodeStream = Parameters<typeof Readable.fromWeb>[0];

async function ask(
  { address, secret }: LogPlace,
  build: string,
  path: string,
  signal: AbortSignal,
): Promise<Response | undefined> {
  const response = await fetch(`${address}/logs/${build}${path}`, {
    redirect: 'error',
    signal,
    ...(secret === undefined ? {} : { headers: { authorization: logAuthorization(secret, build) } }),
  });
  if (response.status === 200) return response;
  await response.body?.cancel();
  if (response.status === 404) return undefined;
  throw new Error(`the executor at ${address} answered ${response.status}`);
}
