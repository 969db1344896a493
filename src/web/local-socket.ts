/**
 * A Unix socket that only the service's own user (and root) can connect to.
 *
 * It is bound in a private directory, gets mode 0600, and is renamed to its path: it is never open to other users, and the rename
 * replaces the stale socket of a killed process. A socket that a living process listens on is not replaced.
 */
import { once } from 'node:events';
import type { BigIntStats } from 'node:fs';
import { chmod, lstat, mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import type { Server } from 'node:http';
import { connect } from 'node:net';
import { dirname, join } from 'node:path';
import { PRIVATE_DIRECTORY, PRIVATE_SOCKET } from '../lib/unix-socket-path.ts';

/** Returned once the socket is at its path. */
export interface LocalSocket {
  /** Removes the socket, unless another process has replaced it. The server runs until it is closed. */
  remove(): Promise<void>;
}

/** The path holds something other than a socket; it is not removed. */
export class SocketPathError extends Error {
  override readonly name = 'SocketPathError';
}

/** @throws SocketPathError, or an error of the file system. */
export async function listenLocally(server: Server, path: string): Promise<LocalSocket | 'taken'> {
  await mkdir(dirname(path), { recursive: true });
  const there = await factsOf(path);
  if (there !== undefined && !there.isSocket())
    throw new SocketPathError(`${path} is not a socket; remove it, or set [web] command_socket`);
  if (there !== undefined && (await answers(path))) return 'taken';
  const directory = await mkdtemp(join(dirname(path), PRIVATE_DIRECTORY));
  const bound = join(directory, PRIVATE_SOCKET);
  try {
    server.listen(bound);
    await once(server, 'listening');
    await chmod(bound, 0o600);
    await rename(bound, path);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
  const own = await factsOf(path);
  return {
    async remove() {
      if (own !== undefined && (await factsOf(path))?.ino === own.ino) await rm(path, { force: true });
    },
  };
}

/** Whether a living process listens there. */
async function answers(path: string): Promise<boolean> {
  const socket = connect(path);
  try {
    await once(socket, 'connect');
    return true;
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code === 'ENOENT' || code === 'ECONNREFUSED') return false;
    throw error;
  } finally {
    socket.destroy();
  }
}

/** Undefined: the path does not exist. */
async function factsOf(path: string): Promise<BigIntStats | undefined> {
  try {
    return await lstat(path, { bigint: true });
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}
