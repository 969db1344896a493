/**
 * The ssh agent of a build, on a socket that the job sees: it signs with the key of its project where that runs after review, with those of its
 * hosts, and with those that the job adds. The keys stay in the memory of the executor; the agent ends with the build.
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
import type { ReachedHost } from '../hosts/node-provider.ts';
import type { Owner } from '../sandbox/stage.ts';
import { type AgentKey, type AgentKeys, agentKeys } from './agent-keys.ts';
import { answerRequest, takeRequest } from './agent-protocol.ts';
import { hostAgentKey, rsaAgentKey } from './signing-keys.ts';

/** Below `info`. */
export const AGENT_SOCKET = 'ssh-agent';

/** Further connections of the job are refused. */
const MOST_CONNECTIONS = 16;

/** As {@link import('../../store/keystore/keystore.ts').Keystore} has them. */
export interface ProjectSshKeys {
  /** Undefined: it has none. */
  read(project: ProjectKey): Promise<{ readonly ssh?: { readonly key: KeyObject } } | undefined>;
}

/** `markKeys`: as {@link AgentKeys.mark}. */
export interface OpenAgent {
  readonly kind: 'open';
  markKeys(): () => void;
  close(): Promise<void>;
}

export type BuildAgent =
  | OpenAgent
  /** For people; the build is tried again. */
  | { readonly kind: 'unavailable'; readonly reason: string };

/**
 * @param owner who alone may connect; null: the service's own user.
 * @param keys undefined: this executor has no `[keystore] password`, and no build gets a project's key.
 * @param hosts those whose keys it signs with as well.
 */
export async function openBuildAgent(
  { sshKeyOf }: Pick<BuildRequest, 'sshKeyOf'>,
  { info }: Pick<BuildPlaces, 'info'>,
  owner: Owner | null,
  keys: ProjectSshKeys | undefined,
  hosts: readonly ReachedHost[] = [],
): Promise<BuildAgent> {
  try {
    const hostKeys = hosts.flatMap(({ key }) => key ?? []);
    const ofHosts = new Map(hostKeys.map(key => [key.blob.toString('base64'), hostAgentKey(key, 'nodes')]));
    const ofProject = sshKeyOf === undefined ? undefined : await projectKey(sshKeyOf, keys);
    const all = [...ofHosts.values(), ...(ofProject === undefined ? [] : [ofProject])];
    const held = agentKeys(all);
    return { kind: 'open', markKeys: held.mark, close: await serve(held, info, owner) };
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    const whose = sshKeyOf === undefined ? 'its hosts' : sshKeyOf;
    return { kind: 'unavailable', reason: `the ssh key of ${whose} cannot be used: ${why}` };
  }
}

async function projectKey(
  project: ProjectKey,
  keys: ProjectSshKeys | undefined,
): Promise<AgentKey | undefined> {
  const privateKey = (await keys?.read(project))?.ssh?.key;
  if (privateKey === undefined) return undefined;
  const [, blob = ''] = sshPublicKey(privateKey).split(' ');
  return rsaAgentKey(privateKey, Buffer.from(blob, 'base64'), projectIdOf(project).name);
}

/** @returns ends it, with every connection. */
async function serve(keys: AgentKeys, info: string, owner: Owner | null): Promise<() => Promise<void>> {
  const sockets = new Set<Socket>();
  const server = createServer(socket => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    // The job may end it at any moment.
    socket.on('error', () => socket.destroy());
    void talk(socket, keys).finally(() => socket.destroy());
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
async function talk(socket: Socket, keys: AgentKeys): Promise<void> {
  let input: Buffer = Buffer.alloc(0);
  try {
    for await (const bytes of socket) {
      input = Buffer.concat([input, bytes]);
      for (let taken = takeRequest(input); taken.kind !== 'incomplete'; taken = takeRequest(input)) {
        if (taken.kind === 'broken') return;
        input = taken.rest;
        if (!socket.write(await answerRequest(taken.request, keys))) await drained(socket);
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
