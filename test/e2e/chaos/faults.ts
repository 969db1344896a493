/**
 * What befalls a site in a chaos run: each fault strikes, lasts a while, and is healed by itself. None of them may cost a good
 * change its place, land one twice or land one untested.
 */
import { rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Ailment, GitRequest } from '../../fake/git-http-host.ts';
import type { ZooKeeperServer } from '../../fake/zookeeper/server.ts';
import type { Cluster } from '../cluster/cluster.ts';
import { PROJECTS } from '../cluster/layout.ts';
import type { ClusterProcess } from '../cluster/process.ts';
import { SESSION_TIMEOUT } from '../cluster/settings-text.ts';

export interface Site {
  readonly cluster: Cluster;
  /** Undefined: the embedded store. */
  readonly zookeeper: ZooKeeperServer | undefined;
  readonly random: () => number;
  /** Pushes so many changes at once, in one push per project. */
  burst(count: number): Promise<void>;
}

export interface Fault {
  readonly name: string;
  /** @returns what exactly happened, for people, once it is healed. */
  strike(site: Site): Promise<string>;
}

const pick = <T>(site: Site, from: readonly T[]): T => {
  const chosen = from[Math.floor(site.random() * from.length)];
  if (chosen === undefined) throw new Error('nothing to pick from');
  return chosen;
};
const between = ({ random }: Site, low: number, high: number) => Math.round(low + random() * (high - low));
const running = ({ cluster }: Site) => cluster.processes.filter(each => each.pid !== undefined);

async function restartAfter(site: Site, victim: ClusterProcess): Promise<string> {
  const ms = between(site, 0, 2_000);
  await delay(ms);
  await victim.start();
  return `${victim.name}, started again after ${ms} ms`;
}

/** The host answers so for a while. */
function ill(name: string, choose: (site: Site) => (request: GitRequest) => Ailment | undefined): Fault {
  return {
    name,
    async strike(site) {
      const ms = between(site, 2_000, 5_000);
      site.cluster.host?.ail(choose(site));
      await delay(ms);
      site.cluster.host?.heal();
      return `${ms} ms`;
    },
  };
}

const HOST: readonly Fault[] = [
  ill('host answers 403', () => () => ({ kind: 'status', status: 403 })),
  ill('host answers 5xx or 429', site => {
    const status = pick(site, [429, 500, 502, 503]);
    return () => ({ kind: 'status', status, ...(status === 429 ? { retryAfterSeconds: 1 } : {}) });
  }),
  ill(
    'host refuses pushes with 403',
    () =>
      ({ service }) =>
        service === 'git-receive-pack' ? { kind: 'status', status: 403 } : undefined,
  ),
  ill('host hangs', () => () => ({ kind: 'hang' })),
  ill('host resets connections', () => () => ({ kind: 'reset' })),
  ill(
    'host truncates packs',
    () =>
      ({ step }) =>
        step === 'exchange' ? { kind: 'truncate', bytes: 40 } : undefined,
  ),
  ill(
    'host loses replies to pushes',
    () =>
      ({ service, step }) =>
        service === 'git-receive-pack' && step === 'exchange' ? { kind: 'lose-reply' } : undefined,
  ),
  ill('host is late with packs', site => {
    const ms = between(site, 200, 900);
    // What was listed may be gone, landed by us, when it is fetched.
    return ({ service, step }) =>
      service === 'git-upload-pack' && step === 'exchange' ? { kind: 'late', ms } : undefined;
  }),
  {
    name: 'host locks its refs',
    async strike(site) {
      const project = site.cluster.projects.get(pick(site, PROJECTS));
      const lock = pick(site, ['packed-refs.lock', 'refs/heads/master.lock']);
      const file = path.join(project?.bare ?? '', lock);
      // As git takes a lock: not over one that is there.
      for (let tries = 0; ; tries++) {
        try {
          await writeFile(file, '', { flag: 'wx' });
          break;
        } catch (error) {
          if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST') || tries > 100)
            throw error;
          await delay(20);
        }
      }
      const ms = between(site, 2_000, 3_000);
      await delay(ms);
      await rm(file);
      return `${lock} of ${project?.name} for ${ms} ms`;
    },
  },
];

const PROCESSES: readonly Fault[] = [
  {
    name: 'kill',
    async strike(site) {
      const victim = pick(site, running(site));
      await victim.kill();
      return await restartAfter(site, victim);
    },
  },
  {
    name: 'stop',
    async strike(site) {
      const victim = pick(site, running(site));
      const { status, tookMs } = await victim.stop();
      return `status ${status} after ${Math.round(tookMs)} ms; ${await restartAfter(site, victim)}`;
    },
  },
  {
    name: 'freeze',
    async strike(site) {
      const victim = pick(site, running(site));
      const ms = between(site, 0.5, 2) * SESSION_TIMEOUT * 1000;
      victim.freeze();
      await delay(ms);
      victim.thaw();
      return `${victim.name} for ${ms} ms`;
    },
  },
];

const SITE: readonly Fault[] = [
  {
    name: 'a stranger moves the branch',
    async strike(site) {
      const project = site.cluster.projects.get(pick(site, PROJECTS));
      const number = between(site, 0, 1e9);
      await project?.commitOnMaster({ [`stranger-${number}.txt`]: `${number}\n` }, `Stranger ${number}`);
      await site.cluster.deliveries.deliver(project?.name ?? '');
      return `${project?.name}`;
    },
  },
  {
    name: 'burst',
    async strike(site) {
      await site.burst(8);
      return '8 changes';
    },
  },
  {
    name: 'flood of webhooks',
    async strike(site) {
      const web = pick(site, site.cluster.webs);
      const flood = between(site, 0, 1e9);
      const answers = await Promise.all(
        Array.from({ length: 60 }, (_, index) =>
          site.cluster.deliveries.tryOnce(web, pick(site, PROJECTS), `flood-${flood}-${index % 40}`),
        ),
      );
      return `${answers.filter(({ status }) => status === 200).length} of ${answers.length} taken`;
    },
  },
];

const MANY: readonly Fault[] = [
  {
    name: 'kill several',
    async strike(site) {
      const victims = [
        ...new Set([pick(site, running(site)), pick(site, running(site)), pick(site, running(site))]),
      ];
      await Promise.all(victims.map(each => each.kill()));
      return (await Promise.all(victims.map(each => restartAfter(site, each)))).join('; ');
    },
  },
  {
    name: 'the store is away',
    async strike(site) {
      const ms = between(site, 1_000, 6_000);
      await site.zookeeper?.kill();
      await delay(ms);
      await site.zookeeper?.restart();
      return `${ms} ms`;
    },
  },
];

/** Every kind of fault there is for this store. */
export function faultsFor(zookeeper: ZooKeeperServer | undefined): readonly Fault[] {
  return [...HOST, ...PROCESSES, ...SITE, ...(zookeeper === undefined ? [] : MANY)];
}
