/**
 * One SSH connection to Gerrit, up to the point where commands can be sent.
 *
 *     read key and known_hosts → connect → host key checked → authenticated
 *
 * Nothing here tries again.
 */
import { createHash } from 'node:crypto';
import { Client, type ClientChannel, type ConnectConfig } from 'ssh2';
import { hostKeyType, judgeHostKey, knownHostKeys } from './known-hosts.ts';
import type { ReadFile, SshPlace } from './ssh-place.ts';

/** Why there is no connection. */
export interface SshFailure {
  /** `unreachable`: the next try may succeed. `refused`: an operator has to act; `text` says how. `aborted`: by the caller's signal. */
  readonly kind: 'unreachable' | 'refused' | 'aborted';
  /** One line for people, without secrets. */
  readonly text: string;
}

/** Ended by the caller, with `client.destroy()`. */
export interface SshConnection {
  readonly kind: 'connected';
  readonly client: Client;
  /** What has gone wrong with it since; undefined: nothing. */
  readonly trouble: () => string | undefined;
}

/** Milliseconds for the handshake. */
const READY_TIMEOUT = 20_000;

const HOST_KEY_ALGORITHMS = {
  'ssh-ed25519': ['ssh-ed25519'],
  'ecdsa-sha2-nistp256': ['ecdsa-sha2-nistp256'],
  'ecdsa-sha2-nistp384': ['ecdsa-sha2-nistp384'],
  'ecdsa-sha2-nistp521': ['ecdsa-sha2-nistp521'],
  'ssh-rsa': ['rsa-sha2-512', 'rsa-sha2-256'],
} as const;

/** Never rejects. */
export async function connectSsh(
  place: SshPlace,
  readFile: ReadFile,
  signal: AbortSignal,
): Promise<SshConnection | SshFailure> {
  const prepared = await prepare(place, readFile);
  if ('kind' in prepared) return prepared;
  if (signal.aborted) return ABORTED;
  const client = new Client();
  const abort = () => void client.destroy();
  signal.addEventListener('abort', abort, { once: true });
  const result = await opened(client, prepared);
  signal.removeEventListener('abort', abort);
  if (result.kind === 'connected' && !signal.aborted) return result;
  client.destroy();
  return result.kind === 'connected' || signal.aborted ? ABORTED : result;
}

const ABORTED: SshFailure = { kind: 'aborted', text: 'aborted' };

interface Prepared {
  readonly config: ConnectConfig;
  /** Why the host's key was not accepted; undefined: it was, or none has come. */
  readonly hostRefused: () => SshFailure | undefined;
}

async function prepare(place: SshPlace, readFile: ReadFile): Promise<Prepared | SshFailure> {
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
  let refused: SshFailure | undefined;
  return {
    hostRefused: () => refused,
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
  { host, port, knownHosts }: SshPlace,
  key: Buffer,
): SshFailure {
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

function refusal(text: string): SshFailure {
  return { kind: 'refused', text };
}

function opened(client: Client, { config, hostRefused }: Prepared): Promise<SshConnection | SshFailure> {
  return new Promise(resolve => {
    let trouble: string | undefined;
    // Stays for the life of the connection: an error event without a listener would end the process.
    client.on('error', error => {
      trouble = error.message;
      resolve(hostRefused() ?? connectFailure(error, config));
    });
    client.on('close', () =>
      resolve(hostRefused() ?? { kind: 'unreachable', text: trouble ?? 'the connection was closed' }),
    );
    client.on('ready', () => resolve({ kind: 'connected', client, trouble: () => trouble }));
    try {
      client.connect(config);
      // The package writes one packet in several pieces: each would wait for the answer to the one before it, 40 ms on Linux.
      client.setNoDelay(true);
    } catch (error) {
      // The key is not readable, or has a passphrase. ssh2 quotes nothing of it.
      const reason = error instanceof Error ? error.message : String(error);
      resolve(refusal(`cannot use the private key: ${reason}`));
    }
  });
}

function connectFailure(
  error: Error & { readonly level?: string },
  { username, host, port }: ConnectConfig,
): SshFailure {
  if (error.level === 'client-authentication')
    return refusal(
      `${host} port ${port} does not accept the key of ${username}: add its public half to the account's SSH keys`,
    );
  return { kind: 'unreachable', text: `${host} port ${port}: ${error.message}` };
}

/** A command that runs, or has run. */
export interface RunningCommand {
  readonly channel: ClientChannel;
  /** Its exit status; null: none has come. */
  readonly code: () => number | null;
  /** Resolves when the channel is closed. */
  readonly closed: Promise<void>;
}

/** Begins a command. @returns why it was not begun, as one line. */
export function execOverSsh(
  { client, trouble }: SshConnection,
  command: string,
  environment: Readonly<Record<string, string>> = {},
): Promise<RunningCommand | string> {
  return new Promise(resolve => {
    const lost = () => resolve(trouble() ?? 'the connection was closed');
    client.once('close', lost);
    const settle = (result: RunningCommand | string) => {
      client.removeListener('close', lost);
      resolve(result);
    };
    const name = command.split(' ', 2).join(' ');
    try {
      client.exec(command, { env: { ...environment } }, (error, channel) => {
        if (error !== undefined) return settle(`${name} was not started: ${error.message}`);
        let code: number | null = null;
        // Of a quick command both come at once, before a caller that awaits the channel could listen.
        channel.on('exit', (exit: number | null) => {
          code = exit;
        });
        const closed = new Promise<void>(close => channel.once('close', close));
        settle({ channel, code: () => code, closed });
      });
    } catch (error) {
      // ssh2 throws where the connection ended a moment ago.
      settle(`${name} was not started: ${error instanceof Error ? error.message : String(error)}`);
    }
  });
}
