/** Where Gerrit's SSH is, and as whom it is used. */
import { readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { GerritOptions } from '../options.ts';

/** One account at one server. */
export interface SshPlace {
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

/** Undefined: the connection has no key. */
export function sshPlace({
  server,
  ssh,
  keepAlive,
}: Pick<GerritOptions, 'server' | 'ssh' | 'keepAlive'>): SshPlace | undefined {
  if (ssh === undefined) return undefined;
  const { user, port, key, knownHosts } = ssh;
  const usual = [join(homedir(), '.ssh', 'known_hosts'), '/etc/ssh/ssh_known_hosts'];
  return {
    host: ssh.host ?? server,
    ...{ port, user, key, keepAlive },
    knownHosts: knownHosts === undefined ? usual : [knownHosts],
  };
}

/** Reads a file; undefined: it is not there. @throws when it cannot be read. */
export type ReadFile = (path: string) => Promise<Buffer | undefined>;

/** The usual {@link ReadFile}. */
export async function fileOfThisMachine(path: string): Promise<Buffer | undefined> {
  try {
    return await readFile(path);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}
