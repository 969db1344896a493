/**
 * Real ZooKeeper servers that form a quorum, for tests that take it from them.
 *
 *     await using ensemble = await startEnsemble(3);
 *     const leader = await ensemble.leader();
 *     await leader.kill();             // the others elect another within half a second or so
 *     await leader.restart();          // returns at once: a member serves only once there is a quorum
 *     await ensemble.serving();        // all three
 */
import { setTimeout as pause } from 'node:timers/promises';
import type { ServerSettings } from './configuration.ts';
import { mode } from './four-letter.ts';
import { freePort } from './free-port.ts';
import {
  createServer,
  neededServer,
  newFolder,
  type ZooKeeperOptions,
  type ZooKeeperServer,
} from './server.ts';

/** Milliseconds; an election that fails is tried again after `initLimit` (10 s), twice in a row under heavy load. */
const ELECTION_LIMIT_MS = 60_000;

export interface ZooKeeperEnsemble extends AsyncDisposable {
  /** For the client. */
  readonly hosts: readonly { readonly host: string; readonly port: number }[];
  /** `restart` of a member does not wait: see {@link serving}. */
  readonly members: readonly ZooKeeperServer[];
  /** Waits until there is one. */
  leader(): Promise<ZooKeeperServer>;
  /** Waits until so many members serve; default: all. */
  serving(count?: number): Promise<void>;
}

export async function startEnsemble(size = 3, options: ZooKeeperOptions = {}): Promise<ZooKeeperEnsemble> {
  for (let attempt = 1; ; attempt++) {
    const members = await makeMembers(size, options);
    const ensemble = toEnsemble(members);
    try {
      await Promise.all(members.map(async member => await member.restart()));
      await ensemble.serving();
      return ensemble;
    } catch (error) {
      const output = members.map(member => member.output()).join('\n');
      await ensemble[Symbol.asyncDispose]();
      if (attempt < 3 && output.includes('Address already in use')) continue;
      throw new Error(`The ensemble did not start: ${output}`, { cause: error });
    }
  }
}

async function makeMembers(size: number, options: ZooKeeperOptions): Promise<readonly ZooKeeperServer[]> {
  const found = options.server ?? neededServer();
  const ids = Array.from({ length: size }, (_, index) => index + 1);
  const peers: Record<string, string> = {};
  for (const id of ids) peers[`server.${id}`] = `127.0.0.1:${await freePort()}:${await freePort()}`;
  // In ticks: how long members may take to join, and to stay silent before they count as lost.
  const more = { initLimit: 40, syncLimit: 8, ...peers, ...options.config };
  return await Promise.all(
    ids.map(async myId => {
      const settings: ServerSettings = {
        folder: await newFolder(options.durable ?? false),
        clientPort: await freePort(),
        tickMs: options.tickMs ?? 250,
        more,
        myId,
      };
      return createServer(found, settings, options, false);
    }),
  );
}

function toEnsemble(members: readonly ZooKeeperServer[]): ZooKeeperEnsemble {
  const modes = async () => await Promise.all(members.map(async member => await mode(member.port)));

  async function until<T>(what: string, probe: () => Promise<T | undefined>): Promise<T> {
    const end = performance.now() + ELECTION_LIMIT_MS;
    for (;;) {
      const value = await probe();
      if (value !== undefined) return value;
      if (performance.now() > end)
        throw new Error(`${what}: not within ${ELECTION_LIMIT_MS / 1000} s (${(await modes()).join(', ')})`);
      await pause(25);
    }
  }

  return {
    hosts: members.map(({ host, port }) => ({ host, port })),
    members,
    leader: async () => await until('a leader', async () => members[(await modes()).indexOf('leader')]),
    async serving(count = members.length) {
      await until(`${count} serving members`, async () => {
        const serving = (await modes()).filter(each => each !== undefined);
        return serving.length >= count ? serving : undefined;
      });
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(members.map(async member => await member[Symbol.asyncDispose]()));
    },
  };
}
