/**
 * A Unix socket that only the service's own user (and root) can connect to.
 *
 * It is bound in a directory nobody else may enter, gets mode 0600, and is renamed to its path: at no moment is it open to others,
 * and the socket a killed process left behind is replaced in the same step. One that answers is left alone.
 */
import { once } from 'node:events';
import type { BigIntStats } from 'node:fs';
import { chmod, lstat, mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import type { Server } from 'node:http';
import { connect } from 'node:net';
import { dirname, join } from 'node:path';
import { PRIVATE_DIRECTORY, PRIVATE_SOCKET } from '../lib/unix-socket-path.ts';

export interface LocalDoor {
  /** Removes the socket, unless another process has put its own there. The server goes on until it is closed. */
  remove(): Promise<void>;
}

/** Something else than a socket is at the path; it is not removed. */
export class SocketPathError extends Error {
  override readonly name = 'SocketPathError';
}

/** @throws SocketPathError, or an error of the file system. */
export async function listenLocally(server: Server, path: string): Promise<LocalDoor | 'taken'> {
  await mkdir(dirname(path), { recursive: true });
  const there = await factsOf(path);
  if (there !== undefined && !there.isSocket())
    throw new SocketPathError(`${path} is no socket; remove it, or set [web] command_socket`);
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

/** Undefined: nothing is there. */
async function factsOf(path: string): Promise<BigIntStats | undefined> {
  try {
    return await lstat(path, { bigint: true });
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}
