/** A service over several tenants, in a process of its own: what it does when it starts again, and while nothing happens. */
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTenants, type TenantsService } from '../bench/tenants/measure.ts';
import { makeTenantsSite, type TenantsSite } from '../bench/tenants/site.ts';
import { runGit } from '../fake/git-repository.ts';

const SIZE = { tenants: 3, projects: 4, pollInterval: 1 };
const ALL = SIZE.tenants * SIZE.projects;
const DEADLINE = 120_000;
const MOST_TRIES = 12;
/** Milliseconds; the service would be busy with answers if it were asked all the time. */
const LOOK_EVERY = 100;

type Since = Awaited<ReturnType<TenantsService['since']>>;

let site: TenantsSite;
let first: TenantsService;
beforeAll(async () => {
  site = await makeTenantsSite(SIZE);
  // Small objects that are files of their own are read without git.
  for (const folder of await repositoriesOf(site)) await runGit(folder, ['repack', '-adq']);
  first = await startTenants(site, SIZE);
}, DEADLINE);
afterAll(async () => {
  await first[Symbol.asyncDispose]();
  await site[Symbol.asyncDispose]();
});

async function repositoriesOf({ repositories }: TenantsSite): Promise<readonly string[]> {
  const all = await readdir(repositories, { recursive: true });
  return all.filter(name => name.endsWith('.git')).map(name => path.join(repositories, name));
}

/** What was done until every project has been polled `times` times. */
async function polled(service: TenantsService, times: number): Promise<readonly Since[]> {
  const parts: Since[] = [];
  let requests = 0;
  while (requests < times * ALL) {
    await delay(LOOK_EVERY);
    const part = await service.since();
    requests += part.roundTrips;
    parts.push(part);
  }
  return parts;
}

const sum = (parts: readonly Since[], of: (part: Since) => number) =>
  parts.reduce((total, part) => total + of(part), 0);
const kinds = (parts: readonly Since[]) => [...new Set(parts.flatMap(part => Object.keys(part.processes)))];

/** What was done in four polls of all projects in which nothing was written: loops take their locks in the beginning. */
async function untilIdle(service: TenantsService): Promise<readonly Since[]> {
  for (let tries = 0; tries < MOST_TRIES; tries++) {
    const parts = await polled(service, 4);
    if (sum(parts, part => part.transactions) === 0) return parts;
  }
  throw new Error('the service writes with each poll');
}

describe('a service over tenants whose layouts are stored', () => {
  it(
    'starts without a process of git per project, and writes and starts nothing while it is idle',
    async () => {
      // The first start reads each project: what is counted shows here.
      expect(first.start.processes['git fetch']).toBe(ALL);
      expect(first.start.transactions).toBeGreaterThan(6 * ALL);
      // A project that is not remembered yet would be announced again with each poll.
      await untilIdle(first);
      await first[Symbol.asyncDispose]();

      await using service = await startTenants(site, SIZE);
      const begun = await polled(service, 2);
      for (const kind of ['git fetch', 'git cat-file', 'git ls-remote']) {
        expect(Object.keys(service.start.processes)).not.toContain(kind);
        expect(kinds(begun)).not.toContain(kind);
      }
      const written = begun.flatMap(part => Object.keys(part.written));
      expect(written.filter(what => /seen|bodies|answers|memory|trigger/.test(what))).toEqual([]);

      const idle = await untilIdle(service);
      expect(kinds(idle)).toEqual([]);
      // The refs of each project, and what is remembered of it.
      const polls = sum(idle, part => part.roundTrips);
      expect(sum(idle, part => part.reads)).toBeLessThanOrEqual(2 * polls + 50);
    },
    DEADLINE,
  );
});
