/**
 * One connection to `gerrit stream-events` over SSH, from opening to its end.
 *
 *     read key and known_hosts → connect → host key checked → authenticated → exec → opened() → line(text)… → how it ended
 *
 * Who calls it opens the next one: nothing here tries again. Gerrit's stream begins at the moment it is opened and has no cursor, so what
 * happened between two connections has to be looked up.
 */
import { createHash } from 'node:crypto';
import { Client, type ClientChannel, type ConnectConfig } from 'ssh2';
import { pause } from '../../../src/lib/pause.ts';
import { hostKeyType, judgeHostKey, knownHostKeys } from './known-hosts.ts';
import { createEventLines } from './lines.ts';

/** Where the stream is, and as whom it is read. */
export interface StreamPlace {
  readonly host: string;
  readonly port: number;
  readonly user: string;
  /** Path of the private key, read at each connection. */
  readonly key: string;
  /** Paths of files that need not exist, read at each connection. */
  readonly knownHosts: readonly string[];
  /** Seconds between keep-alive messages; a host that answers none of three is gone. */
  readonly keepAlive: number;
}

/** What happens on a connection, in this order. */
export interface StreamWatcher {
  /** Gerrit has taken the command. */
  opened(): void;
  /** The next line is read when this one has been taken. */
  line(text: string): Promise<void>;
  /** Lines over the limit that were left out. */
  tooLong(count: number): void;
}

/** How a connection ended. */
export interface StreamEnd {
  /**
   * `closed`: it was open. `unreachable`: it never was, and may be at the next try. `refused`: an operator has to act; `text` says how.
   * `aborted`: by the caller's signal.
   */
  readonly kind: 'closed' | 'unreachable' | 'refused' | 'aborted';
  /** One line for people, without secrets. */
  readonly text: string;
}

/** Reads a file; undefined: it is not there. @throws when it cannot be read. */
export type ReadFile = (path: string) => Promise<Buffer | undefined>;

/** Bytes; Gerrit's longest events hold a commit message and a comment. */
const LONGEST_LINE = 1024 * 1024;
/** Milliseconds for the handshake. */
const READY_TIMEOUT = 20_000;
/** Milliseconds from the end of the output to the exit status. */
const CLOSE_TIMEOUT = 2_000;
/** Characters of stderr that are kept. */
const MOST_COMPLAINT = 1_000;

const HOST_KEY_ALGORITHMS = {
  'ssh-ed25519': ['ssh-ed25519'],
  'ecdsa-sha2-nistp256': ['ecdsa-sha2-nistp256'],
  'ecdsa-sha2-nistp384': ['ecdsa-sha2-nistp384'],
  'ecdsa-sha2-nistp521': ['ecdsa-sha2-nistp521'],
  'ssh-rsa': ['rsa-sha2-512', 'rsa-sha2-256'],
} as const;

/** Never rejects but with what `watcher.line` throws. */
export async function readEventStream(
  place: StreamPlace,
  watcher: StreamWatcher,
  readFile: ReadFile,
  signal: AbortSignal,
): Promise<StreamEnd> {
  const prepared = await prepare(place, readFile);
  if ('kind' in prepared) return prepared;
  const client = new Client();
  const abort = () => void client.destroy();
  signal.addEventListener('abort', abort, { once: true });
  try {
    if (signal.aborted) return { kind: 'aborted', text: 'aborted' };
    const opened = await openChannel(client, prepared.config, prepared.refusal);
    if ('kind' in opened) return signal.aborted ? { kind: 'aborted', text: 'aborted' } : opened;
    return await readChannel(opened.channel, opened.trouble, watcher, signal);
  } finally {
    signal.removeEventListener('abort', abort);
    client.destroy();
  }
}

interface Prepared {
  readonly config: ConnectConfig;
  /** Why the host's key was not accepted; undefined: it was, or none has come. */
  readonly refusal: () => StreamEnd | undefined;
}

async function prepare(place: StreamPlace, readFile: ReadFile): Promise<Prepared | StreamEnd> {
  const { host, port, user, keepAlive } = place;
  const privateKey = await contentOf(place.key, readFile);
  if (typeof privateKey === 'string') return refusal(`cannot read the key ${place.key}: ${privateKey}`);
  const texts: string[] = [];
  for (const path of place.knownHosts) {
    const content = await contentOf(path, readFile);
    if (typeof content !== 'string') texts.push(content.toString('utf8'));
    else if (content !== MISSING) return refusal(`cannot read ${path}: ${content}`);
  }
  const known = knownHostKeys(texts.join('\n'), host, port);
  const algorithms = [...new Set(known.filter(({ isRevoked }) => !isRevoked).flatMap(algorithmsOf))];
  let refused: StreamEnd | undefined;
  return {
    refusal: () => refused,
    config: {
      host,
      port,
      username: user,
      privateKey,
      readyTimeout: READY_TIMEOUT,
      keepaliveInterval: keepAlive * 1000,
      keepaliveCountMax: 3,
      // The host offers one key of several: ask for one of a type that the file has.
      ...(algorithms.length > 0 ? { algorithms: { serverHostKey: algorithms } } : {}),
      hostVerifier: (key: Buffer) => {
        const verdict = judgeHostKey(known, key);
        if (verdict !== 'known') refused = hostRefusal(verdict, place, key);
        return verdict === 'known';
      },
    },
  };
}

function algorithmsOf({ type }: { readonly type: string }) {
  return type in HOST_KEY_ALGORITHMS ? HOST_KEY_ALGORITHMS[type as keyof typeof HOST_KEY_ALGORITHMS] : [];
}

const MISSING = 'there is no such file';

async function contentOf(path: string, readFile: ReadFile): Promise<Buffer | string> {
  try {
    return (await readFile(path)) ?? MISSING;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

function hostRefusal(
  verdict: 'unknown' | 'other' | 'revoked',
  { host, port, knownHosts }: StreamPlace,
  key: Buffer,
): StreamEnd {
  const print = createHash('sha256').update(key).digest('base64').replace(/=+$/, '');
  const what = `the host key of ${host} port ${port} (${hostKeyType(key)} SHA256:${print})`;
  const [file = 'known_hosts'] = knownHosts;
  switch (verdict) {
    case 'revoked':
      return refusal(`${what} is marked @revoked in ${file}`);
    case 'other':
      return refusal(
        `${what} is none of those in ${file}: either the server's key was changed, or another server answers. Ask its operator, then replace the line`,
      );
    case 'unknown':
      return refusal(
        `${what} is not in ${file}: compare the fingerprint with the server's, then add the key with ssh-keyscan -p ${port} ${host} >> ${file}`,
      );
  }
}

function refusal(text: string): StreamEnd {
  return { kind: 'refused', text };
}

interface Opened {
  readonly channel: ClientChannel;
  /** Of the connection; undefined: none. */
  readonly trouble: () => string | undefined;
}

function openChannel(
  client: Client,
  config: ConnectConfig,
  hostRefused: Prepared['refusal'],
): Promise<Opened | StreamEnd> {
  return new Promise(resolve => {
    let trouble: string | undefined;
    // Stays for the life of the connection: an error event without a listener would end the process.
    client.on('error', error => {
      trouble = error.message;
      resolve(hostRefused() ?? connectEnd(error, config));
    });
    client.on('close', () =>
      resolve(hostRefused() ?? { kind: 'unreachable', text: trouble ?? 'the connection was closed' }),
    );
    client.on('ready', () => {
      client.exec('gerrit stream-events', (error, channel) => {
        if (error === undefined) resolve({ channel, trouble: () => trouble });
        else resolve({ kind: 'unreachable', text: `gerrit stream-events was not started: ${error.message}` });
      });
    });
    try {
      client.connect(config);
    } catch (error) {
      // The key is not readable, or has a passphrase. ssh2 quotes nothing of it.
      const reason = error instanceof Error ? error.message : String(error);
      resolve(refusal(`cannot use the private key: ${reason}`));
    }
  });
}

function connectEnd(
  error: Error & { readonly level?: string },
  { username, host, port }: ConnectConfig,
): StreamEnd {
  if (error.level === 'client-authentication')
    return refusal(
      `${host} port ${port} does not accept the key of ${username}: add its public half to the account's SSH keys`,
    );
  return { kind: 'unreachable', text: `${host} port ${port}: ${error.message}` };
}

async function readChannel(
  channel: ClientChannel,
  trouble: Opened['trouble'],
  watcher: StreamWatcher,
  signal: AbortSignal,
): Promise<StreamEnd> {
  const lines = createEventLines(LONGEST_LINE);
  let complaint = '';
  let code: number | null = null;
  channel.stderr.on('data', (piece: Buffer) => {
    complaint = (complaint + piece.toString('utf8')).slice(0, MOST_COMPLAINT);
  });
  channel.on('exit', (exit: number | null) => {
    code = exit;
  });
  watcher.opened();
  const closed = new Promise<void>(resolve => channel.once('close', resolve));
  const failed = await feed(channel, lines, watcher, signal);
  if (signal.aborted) return { kind: 'aborted', text: 'aborted' };
  // The exit status comes behind the end of the output. The end alone is enough: a server may never close the channel.
  if (failed === undefined) await Promise.race([closed, pause(CLOSE_TIMEOUT, signal)]);
  const said = complaint.trim().split('\n')[0] ?? '';
  if (/not permitted/i.test(said))
    return refusal(`${said}: give the account the global capability Stream Events in All-Projects`);
  if (code !== null && code !== 0) return refusal(`gerrit stream-events ended with ${code}: ${said}`);
  return { kind: 'closed', text: trouble() ?? failed ?? 'Gerrit closed the stream' };
}

/** @returns why reading failed; undefined: the output ended. */
async function feed(
  channel: ClientChannel,
  lines: ReturnType<typeof createEventLines>,
  watcher: StreamWatcher,
  signal: AbortSignal,
): Promise<string | undefined> {
  const pieces: AsyncIterator<Buffer> = channel[Symbol.asyncIterator]();
  while (true) {
    const next = await pieces.next().catch(error => String(error));
    if (typeof next === 'string') return next;
    if (next.done === true) return undefined;
    const { lines: complete, tooLong } = lines.push(next.value);
    if (tooLong > 0) watcher.tooLong(tooLong);
    for (const line of complete) {
      if (signal.aborted) return undefined;
      await watcher.line(line);
    }
  }
}
