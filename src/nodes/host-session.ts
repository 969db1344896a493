/**
 * A host over ssh, for what the service itself does there: look whether it answers, make a place for a build, remove what is left of one.
 *
 *     const connected = await connectHost(host, key, { timeoutMs, commandMs, signal });
 *     if (connected.kind === 'connected') { await connected.session.run('true'); connected.session.close(); }
 *
 * Nothing is sent to a host before it has shown one of its pinned keys.
 */
import { createPrivateKey, type KeyObject } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import ssh2 from 'ssh2';
import { Secret } from '../lib/secret.ts';
import type { StaticHost } from '../model/static-host.ts';
import { parseHostKey } from './host-key.ts';

/** A private key of the installation, ed25519 or RSA; what it is never leaves this process. */
export interface PrivateKey {
  readonly text: Secret;
  readonly key: KeyObject;
  readonly type: 'ssh-ed25519' | 'ssh-rsa';
  /** The public key as ssh writes it. */
  readonly blob: Buffer;
}

/** `failed`: one line for people, without the host's name. */
export type Connected =
  | { readonly kind: 'connected'; readonly session: HostSession }
  | { readonly kind: 'failed'; readonly reason: string };

export interface HostSession {
  /** Never rejects. @param command for the login shell. */
  run(command: string): Promise<CommandEnd>;
  close(): void;
}

/** `output`: of both streams, the end of it. `failed`: the connection broke, or it took too long. */
type CommandEnd =
  | { readonly kind: 'ended'; readonly status: number; readonly output: string }
  | { readonly kind: 'failed'; readonly reason: string };

export interface SessionLimits {
  /** For the connection. */
  readonly timeoutMs: number;
  /** For each command. */
  readonly commandMs: number;
  readonly signal?: AbortSignal;
}

const MOST_OUTPUT = 4_000;

/** @throws Error that names the file and nothing of what is in it. */
export async function readPrivateKey(path: string): Promise<PrivateKey> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown error';
    throw new Error(`private key ${path} cannot be read (${code})`);
  }
  const parsed = ssh2.utils.parseKey(text);
  // Of several keys in a file the first counts.
  const key = Array.isArray(parsed) ? parsed[0] : parsed;
  if (key === undefined || key instanceof Error || !key.isPrivateKey())
    throw new Error(`private key ${path} is no private key without a passphrase`);
  if (key.type !== 'ssh-ed25519' && key.type !== 'ssh-rsa')
    throw new Error(`private key ${path} is neither an ed25519 nor an RSA key`);
  return {
    text: new Secret(text),
    key: createPrivateKey(key.getPrivatePEM()),
    type: key.type,
    blob: key.getPublicSSH(),
  };
}

export function connectHost(
  host: StaticHost,
  key: PrivateKey,
  { timeoutMs, commandMs, signal }: SessionLimits,
): Promise<Connected> {
  const pinned = host.hostKeys.flatMap(text => parseHostKey(text) ?? []);
  const { promise, resolve } = Promise.withResolvers<Connected>();
  const client = new ssh2.Client();
  let isWrongKey = false;
  const fail = (reason: string) => {
    resolve({ kind: 'failed', reason });
    client.destroy();
  };
  const aborted = () => fail('given up');
  signal?.addEventListener('abort', aborted, { once: true });
  client
    .on('ready', () => resolve({ kind: 'connected', session: sessionOf(client, commandMs) }))
    .on('error', error => fail(isWrongKey ? 'it shows a host key that is not pinned' : reasonOf(error)))
    .on('close', () => fail('the connection was closed'));
  try {
    client.connect({
      host: host.address,
      port: host.port,
      username: host.username,
      privateKey: key.text.reveal(),
      readyTimeout: timeoutMs,
      keepaliveInterval: timeoutMs,
      keepaliveCountMax: 3,
      algorithms: { serverHostKey: pinned.flatMap(({ type }) => algorithmsOf(type)) },
      hostVerifier: (shown: Buffer) => {
        isWrongKey = !pinned.some(({ blob }) => blob.equals(shown));
        return !isWrongKey;
      },
    });
  } catch (error) {
    fail(reasonOf(error));
  }
  return promise.finally(() => signal?.removeEventListener('abort', aborted));
}

type HostKeyAlgorithm = 'ssh-ed25519' | 'ssh-rsa' | 'rsa-sha2-256' | 'rsa-sha2-512';

/** By the type of the key; an RSA key may sign in several ways. */
function algorithmsOf(type: string): HostKeyAlgorithm[] {
  // ssh2's types lack some that it has.
  return type === 'ssh-rsa' ? ['rsa-sha2-512', 'rsa-sha2-256', 'ssh-rsa'] : [type as HostKeyAlgorithm];
}

function reasonOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  if (/authentication methods failed/.test(text)) return 'it refuses the key of the installation';
  if (/handshake/i.test(text) && /host key/i.test(text)) return 'it shows a host key that is not pinned';
  return text.replace(/\s+/g, ' ').slice(0, 300);
}

function sessionOf(client: ssh2.Client, commandMs: number): HostSession {
  return {
    run(command) {
      const { promise, resolve } = Promise.withResolvers<CommandEnd>();
      const late = setTimeout(
        () => resolve({ kind: 'failed', reason: 'a command took too long' }),
        commandMs,
      );
      const broken = () => resolve({ kind: 'failed', reason: 'the connection broke' });
      client.once('close', broken);
      client.exec(command, (error, channel) => {
        if (error !== undefined) return resolve({ kind: 'failed', reason: reasonOf(error) });
        let output = '';
        const take = (bytes: Buffer) => {
          output = (output + bytes.toString('utf8')).slice(-MOST_OUTPUT);
        };
        channel.on('data', take).stderr.on('data', take);
        channel.on('close', (status: number | null) =>
          resolve({ kind: 'ended', status: status ?? -1, output: output.trim() }),
        );
      });
      return promise.finally(() => {
        clearTimeout(late);
        client.off('close', broken);
      });
    },
    close: () => void client.end(),
  };
}
