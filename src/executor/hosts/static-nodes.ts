/** Hosts of `nodes.yaml` over ssh: a directory of the build on each, removed with its processes when it has ended. */
import { connect, type Socket } from 'node:net';
import type { StaticHost } from '../../model/static-host.ts';
import { makePlace, removePlace } from '../../nodes/host-places.ts';
import { connectHost, type HostSession, readPrivateKey } from '../../nodes/host-session.ts';
import type { HostFailure, NodeProvider } from './node-provider.ts';

/** Removing a directory may take a while. */
const SESSION_LIMITS = { timeoutMs: 10_000, commandMs: 60_000 };

export const staticNodes: NodeProvider<StaticHost> = {
  async open(host, { owner: { node, build } }, signal) {
    const failed = (reason: string, leftover = false): HostFailure => ({
      ...{ host: host.name, reason, leftover },
    });
    let key: Awaited<ReturnType<typeof readPrivateKey>> | undefined;
    const made = await inSession(host, signal, async (session, used) => {
      key = used;
      return await makePlace(session, build);
    });
    if (made !== undefined || key === undefined)
      return { kind: 'failed', failure: failed(made ?? 'it was not reached', key !== undefined) };
    return {
      kind: 'reached',
      host: {
        ...{ node, host, key, source: host.name, title: `host ${host.name}` },
        join: (socket, opened) => relay(socket, host, opened),
        async lost() {
          const problem = await inSession(host, undefined, async () => undefined);
          return problem === undefined ? undefined : failed(problem, true);
        },
        async leave() {
          const problem = await inSession(host, undefined, session => removePlace(session, build));
          return problem === undefined ? undefined : failed(problem, true);
        },
      },
    };
  },
  examine: (host, leftovers, signal) =>
    inSession(host, signal, async session => {
      for (const build of leftovers) {
        const problem = await removePlace(session, build);
        if (problem !== undefined) return problem;
      }
      return undefined;
    }),
};

/** @returns what is wrong, one line. Never rejects. */
async function inSession(
  host: StaticHost,
  signal: AbortSignal | undefined,
  work: (
    session: HostSession,
    key: Awaited<ReturnType<typeof readPrivateKey>>,
  ) => Promise<string | undefined>,
): Promise<string | undefined> {
  try {
    const key = await readPrivateKey(host.privateKey);
    const limits = signal === undefined ? SESSION_LIMITS : { ...SESSION_LIMITS, signal };
    const connected = await connectHost(host, key, limits);
    if (connected.kind === 'failed') return connected.reason;
    try {
      return await work(connected.session, key);
    } finally {
      connected.session.close();
    }
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

function relay(socket: Socket, { address, port }: StaticHost, opened: (other: Socket) => void): void {
  const other = connect({ host: address, port });
  opened(other);
  for (const [one, another] of [
    [socket, other],
    [other, socket],
  ] as const) {
    one.on('error', () => another.destroy());
    // What it had sent before is still on its way.
    one.on('close', () => another.end());
  }
  socket.pipe(other);
  other.pipe(socket);
}
