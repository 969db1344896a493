/**
 * The ssh key of a project for a build that runs after review: an agent that signs with it, on a socket that the job sees. The key itself
 * stays in the memory of the executor; the agent ends with the build.
 *
 *     const agent = await openBuildAgent(context);
 *     …                                             // SSH_AUTH_SOCK=<info>/ssh-agent
 *     await agent.close();
 */
import type { KeyObject } from 'node:crypto';
import { once } from 'node:events';
import { chmodSync, chownSync, closeSync, constants, openSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { sshPublicKey } from '../../lib/rsa-keys.ts';
import type { BuildRequest } from '../../model/build-request.ts';
import { type ProjectKey, projectIdOf } from '../../model/project.ts';
import type { BuildPlaces } from '../build-places.ts';
import type { Owner } from '../sandbox/stage.ts';
import { type AgentKey, answerRequest, takeRequest } from './agent-protocol.ts';

/** Below `info`. */
export const AGENT_SOCKET = 'ssh-agent';

/** Further connections of the job are refused. */
const MOST_CONNECTIONS = 16;

/** As {@link import('../../store/keystore/keystore.ts').Keystore} has them. */
export interface ProjectSshKeys {
  /** Undefined: it has none. */
  read(project: ProjectKey): Promise<{ readonly ssh?: { readonly key: KeyObject } } | undefined>;
}

export type BuildAgent =
  | { readonly kind: 'open'; close(): Promise<void> }
  /** The build gets no key: it is none that runs after review, or its project has none. */
  | { readonly kind: 'none' }
  /** For people; the build is tried again. */
  | { readonly kind: 'unavailable'; readonly reason: string };

/**
 * @param owner who alone may connect; null: the service's own user.
 * @param keys undefined: this executor has no `[keystore] password`, and no build gets a key.
 */
export async function openBuildAgent(
  { sshKeyOf }: Pick<BuildRequest, 'sshKeyOf'>,
  { info }: Pick<BuildPlaces, 'info'>,
  owner: Owner | null,
  keys: ProjectSshKeys | undefined,
): Promise<BuildAgent> {
  if (sshKeyOf === undefined || keys === undefined) return { kind: 'none' };
  const unavailable = (error: unknown) => {
    const why = error instanceof Error ? error.message : String(error);
    return { kind: 'unavailable', reason: `the ssh key of ${sshKeyOf} cannot be used: ${why}` } as const;
  };
  try {
    const privateKey = (await keys.read(sshKeyOf))?.ssh?.key;
    if (privateKey === undefined) return { kind: 'none' };
    const [, blob = ''] = sshPublicKey(privateKey).split(' ');
    const comment = projectIdOf(sshKeyOf).name;
    const server = await serve({ privateKey, blob: Buffer.from(blob, 'base64'), comment }, info, owner);
    return { kind: 'open', close: server };
  } catch (error) {
    return unavailable(error);
  }
}

/** @returns ends it, with every connection. */
async function serve(key: AgentKey, info: string, owner: Owner | null): Promise<() => Promise<void>> {
  const sockets = new Set<Socket>();
  const server = createServer(socket => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    // The job may end it at any moment.
    socket.on('error', () => socket.destroy());
    void talk(socket, key).finally(() => socket.destroy());
  });
  server.maxConnections = MOST_CONNECTIONS;
  const folder = openSync(info, constants.O_RDONLY | constants.O_DIRECTORY);
  try {
    // The name of a socket has at most 107 bytes, and a build's directory may have a longer one.
    await listening(server, `/proc/self/fd/${folder}/${AGENT_SOCKET}`);
  } catch (error) {
    closeSync(folder);
    throw error;
  }
  const path = join(info, AGENT_SOCKET);
  if (owner !== null) chownSync(path, owner.uid, owner.gid);
  chmodSync(path, 0o600);
  return async () => {
    for (const socket of sockets) socket.destroy();
    const { promise, resolve } = Promise.withResolvers<void>();
    server.close(() => resolve());
    await promise;
    closeSync(folder);
  };
}

async function listening(server: Server, path: string): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once('error', reject);
  server.listen(path, () => resolve());
  await promise;
  server.off('error', reject);
}

/** One request after the other, as fast as the job reads the answers; ends with the first that is none. */
async function talk(socket: Socket, key: AgentKey): Promise<void> {
  let input: Buffer = Buffer.alloc(0);
  try {
    for await (const bytes of socket) {
      input = Buffer.concat([input, bytes]);
      for (let taken = takeRequest(input); taken.kind !== 'incomplete'; taken = takeRequest(input)) {
        if (taken.kind === 'broken') return;
        input = taken.rest;
        if (!socket.write(await answerRequest(taken.request, key))) await drained(socket);
      }
    }
  } catch {
    // A connection that broke: the job learns it from its own side.
  }
}

/** Resolves when what was written is on its way, or the connection is gone. */
async function drained(socket: Socket): Promise<void> {
  if (socket.destroyed) return;
  const over = new AbortController();
  const { signal } = over;
  await Promise.race([once(socket, 'drain', { signal }), once(socket, 'close', { signal })]).finally(() =>
    over.abort(),
  );
}
