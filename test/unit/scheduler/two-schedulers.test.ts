import { describe, expect, test, vi } from 'vitest';
import { systemClock } from '../../../src/lib/clock.ts';
import { layoutSummaryCodec } from '../../../src/model/codec/records.ts';
import { projectKey } from '../../../src/model/project.ts';
import { inLockOrder } from '../../../src/store/lock.ts';
import { type Operation, remove, StoreError } from '../../../src/store/port.ts';
import { LAYOUT, openSchedulers, type RunningScheduler, type Schedulers, TENANT } from './schedulers.ts';
import { eventually } from './stand.ts';

const LAYOUT_2 = LAYOUT.replace('name: unit\n', 'name: style\n').replace('[unit]', '[style]');

/** Both run and are ready; `one` holds everything. */
async function both(site: Schedulers, after: () => void = () => {}) {
  const one = await site.start('one', { after });
  await one.scheduler.ready;
  await eventually(async () => (await holderOf(site, lockOf(site))) !== undefined, 'one holds the gate');
  const two = await site.start('two');
  await two.scheduler.ready;
  return { one, two };
}

const lockOf = (site: Schedulers) => site.paths.pipeline('acme', 'gate').lock;

/** Session of the first in the line. */
async function holderOf(site: Schedulers, lock: string): Promise<string | undefined> {
  const [first] = inLockOrder((await site.store.children(lock)) ?? []);
  if (first === undefined) return undefined;
  return (await site.store.get(`${lock}/${first}`))?.stat.ephemeralOwner;
}

/** Takes the lock from its holder, as an operator might. */
async function takeAway(site: Schedulers, lock: string): Promise<void> {
  await eventually(
    async () => ((await site.store.children(lock))?.length ?? 0) > 1,
    'another scheduler stands by',
  );
  const [first] = inLockOrder((await site.store.children(lock)) ?? []);
  await site.store.multi([remove(`${lock}/${first}`)]);
}

/** All it writes in the meantime. */
async function writesOf(scheduler: RunningScheduler, act: () => Promise<void>) {
  const written: (readonly Operation[])[] = [];
  const before = scheduler.faulty.beforeMulti;
  scheduler.faulty.beforeMulti = operations => {
    written.push(operations);
    return before?.(operations);
  };
  await act();
  return written;
}

async function storedLayout(site: Schedulers) {
  const node = await site.store.get(site.paths.tenant('acme').layout);
  return node === undefined || node.data.length === 0 ? undefined : layoutSummaryCodec.decode(node.data);
}

const jobsOf = async (site: Schedulers) =>
  (await site.history()).flatMap(row =>
    row.kind === 'item' ? row.item.buildset.builds.map(build => build.job) : [],
  );

describe('a second scheduler', () => {
  test('is ready without asking a merger anything, and takes nothing away from the first', async () => {
    await using site = await openSchedulers();
    const one = await site.start('one');
    await one.scheduler.ready;
    const asked = [...site.host.asked];
    expect(asked).toEqual(['config-files', 'config-files']);
    const two = await site.start('two');
    await two.scheduler.ready;
    expect(site.host.asked).toEqual(asked);
    await site.approve('login');
    await site.quiet();
    expect(new Set(site.host.effects.map(({ by }) => by))).toEqual(new Set(['one']));
    expect([...site.host.listening]).toEqual(['one']);
  });

  test('goes on where the first one died: same item, same trace, same times, same builds', async () => {
    await using site = await openSchedulers();
    const { one, two } = await both(site);
    site.holdBuilds();
    await site.approve('login');
    await site.approve('logout');
    await eventually(
      async () => (await site.items()).filter(item => item.buildset.builds.length > 0).length === 2,
      'both changes are tested',
    );
    const before = await site.items();
    await one.kill();
    await eventually(
      async () => (await holderOf(site, lockOf(site))) === two.faulty.sessionId,
      'two has the pipeline',
    );
    const identity = (items: typeof before) =>
      items.map(({ uuid, enqueuedAt, behind, buildset }) => ({
        uuid,
        enqueuedAt,
        behind,
        builds: buildset.builds.map(build => build.uuid),
      }));
    expect(identity(await site.items())).toEqual(identity(before));
    site.releaseBuilds();
    await site.quiet();
    expect(site.host.effects.filter(({ kind }) => kind === 'land').map(({ by }) => by)).toEqual([
      'two',
      'two',
    ]);
    expect(site.host.asked.filter(kind => kind === 'merge')).toHaveLength(2);
    const roots = (await site.spans()).filter(span => span.attributes['gatehouse.span.type'] === 'QueueItem');
    expect(new Set(roots.map(root => `${root.traceId} ${root.start}`))).toEqual(
      new Set(before.map(item => `${item.uuid} ${item.enqueuedAt}`)),
    );
    expect(roots).toHaveLength(2);
    await eventually(() => site.host.listening.size === 1 && site.host.listening.has('two'), 'two listens');
    expect(site.host.asked.filter(kind => kind === 'config-files')).toHaveLength(2);
  });

  test('leaves its mark in each item it took over, and none in those that came later', async () => {
    await using site = await openSchedulers();
    const { one, two } = await both(site);
    site.holdBuilds();
    await site.approve('login');
    await site.approve('logout');
    await eventually(
      async () => (await site.items()).filter(item => item.buildset.builds.length > 0).length === 2,
      'both changes are tested',
    );
    const clock = systemClock();
    const killed = clock.now();
    await one.kill();
    const marked = async () => (await site.items()).filter(item => item.takeovers !== undefined);
    await eventually(async () => (await marked()).length === 2, 'both are marked');
    const written = await writesOf(two, async () => {
      site.releaseBuilds();
      await site.quiet();
      await site.approve('later');
      await site.quiet();
    });
    const history = (await site.history())
      .flatMap(row => (row.kind === 'item' ? [row.item] : []))
      .toSorted((a, b) => (a.enqueuedAt < b.enqueuedAt ? -1 : 1));
    expect(history.map(({ takeovers }) => takeovers?.length)).toEqual([1, 1, undefined]);
    for (const { takeovers, enqueuedAt } of history.slice(0, 2)) {
      const [takeover] = takeovers ?? [];
      if (takeover === undefined) throw new Error('no mark');
      expect(takeover).toMatchObject({ from: 'one', to: 'two', how: 'lost' });
      // Not before its last sign of life, and not before the killed one had written the item.
      expect(BigInt(takeover.since)).toBeGreaterThan(BigInt(enqueuedAt));
      expect(BigInt(takeover.since)).toBeLessThanOrEqual(BigInt(killed));
      expect(BigInt(takeover.at)).toBeGreaterThan(BigInt(killed));
    }
    const spans = (await site.spans()).filter(({ name }) => name === 'Takeover');
    expect(spans.map(({ traceId }) => traceId).toSorted()).toEqual(
      history
        .slice(0, 2)
        .map(({ uuid }) => uuid)
        .toSorted(),
    );
    expect(spans[0]?.attributes).toMatchObject({
      'gatehouse.takeover.from': 'one',
      'gatehouse.takeover.to': 'two',
      'gatehouse.takeover.how': 'lost',
    });
    // Once it is there, who holds the pipeline costs no commit: two checks, the state, and the id of the commit.
    const { state } = site.paths.pipeline('acme', 'gate');
    const ofState = written.filter(operations => operations.some(({ path }) => path === state));
    expect(ofState.length).toBeGreaterThan(0);
    expect(ofState.filter(operations => operations.length <= 4)).toEqual([]);
  });

  test('takes over from one that stops in order without a recorded outage', async () => {
    await using site = await openSchedulers();
    const { one } = await both(site);
    site.holdBuilds();
    await site.approve('login');
    await eventually(
      async () => (await site.items()).some(item => item.buildset.builds.length > 0),
      'the change is tested',
    );
    const clock = systemClock();
    const stopping = clock.now();
    await one.stop();
    await eventually(async () => (await site.items()).some(item => item.takeovers !== undefined), 'the mark');
    const marked = clock.now();
    site.releaseBuilds();
    await site.quiet();
    const [item] = (await site.history()).flatMap(row => (row.kind === 'item' ? [row.item] : []));
    expect(item?.takeovers).toMatchObject([{ from: 'one', to: 'two', how: 'released' }]);
    const [takeover] = item?.takeovers ?? [];
    if (takeover === undefined) throw new Error('no mark');
    // Clocks made at different moments differ by microseconds.
    const tolerance = 1_000_000n;
    expect(BigInt(takeover.since)).toBeGreaterThan(BigInt(stopping) - tolerance);
    expect(BigInt(takeover.at)).toBeLessThan(BigInt(marked) + tolerance);
  });

  test('holds a pipeline of a tenant the first one holds, and tests with the layout that one writes', async () => {
    await using site = await openSchedulers();
    const { one, two } = await both(site);
    await takeAway(site, lockOf(site));
    await site.approve('login');
    await site.quiet();
    expect(await holderOf(site, lockOf(site))).toBe(two.faulty.sessionId);
    await site.push(LAYOUT_2);
    await site.approve('logout');
    await site.quiet();
    expect(await holderOf(site, site.paths.tenant('acme').lock)).toBe(one.faulty.sessionId);
    expect(await jobsOf(site)).toEqual(['unit', 'style']);
    expect(site.host.asked.filter(kind => kind === 'config-files')).toHaveLength(3);
  });

  test('gets its share of the pipelines when the first one looks after them', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
    try {
      const names = ['gate', 'second', 'third', 'fourth'];
      const pipelines = names.slice(1).map(name => `- pipeline: {name: ${name}, manager: independent}\n`);
      await using site = await openSchedulers(LAYOUT + pipelines.join(''));
      const one = await site.start('one');
      await one.scheduler.ready;
      const locks = names.map(name => site.paths.pipeline('acme', name).lock);
      const holders = () => Promise.all(locks.map(lock => holderOf(site, lock)));
      const held = async (by: string) => (await holders()).filter(holder => holder === by).length;
      const settled = (by: string, count: number) =>
        eventually(async () => (await held(by)) === count, `${count} pipelines are held`);
      await settled(one.faulty.sessionId, 4);
      const two = await site.start('two');
      await two.scheduler.ready;
      await eventually(
        async () =>
          (await Promise.all(locks.map(lock => site.store.children(lock)))).every(all => all?.length === 2),
        'both stand in every line',
      );
      await vi.advanceTimersByTimeAsync(61_000);
      await settled(two.faulty.sessionId, 2);
      await vi.advanceTimersByTimeAsync(180_000);
      await settled(two.faulty.sessionId, 2);
      await settled(one.faulty.sessionId, 2);
      await two.kill();
      await settled(one.faulty.sessionId, 4);
    } finally {
      vi.useRealTimers();
    }
  });

  test('hands what a reporter remembers to the next report, and shows where an item is, also after a takeover', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
    try {
      await using site = await openSchedulers();
      const { host } = site;
      const minutesLater = (met: () => boolean, what: string) =>
        eventually(() => vi.advanceTimersByTimeAsync(5_000).then(met), what, 600_000);
      host.memory = { run: 7 };
      site.holdBuilds();
      const one = await site.start('one');
      await one.scheduler.ready;
      const two = await site.start('two');
      await two.scheduler.ready;
      await site.approve('login');
      const stored = async () => (await site.items()).some(({ reports }) => reports[0]?.done != null);
      await eventually(stored, 'the start is reported');
      await minutesLater(() => host.reported.length === 2, 'the item is shown');
      await one.kill();
      const turns = async () => (await site.items()).some(({ takeovers = [] }) => takeovers.length > 0);
      await eventually(turns, 'the other scheduler has the pipeline');
      await minutesLater(() => host.reported.length === 3, 'the other scheduler shows it');
      site.releaseBuilds();
      await site.quiet();
      const remembered = { kind: 'remembered', memory: { run: 7 } };
      expect(host.reported).toEqual([
        { by: 'one', what: 'start', earlier: { kind: 'none' } },
        { by: 'one', what: 'progress', earlier: remembered },
        { by: 'two', what: 'progress', earlier: remembered },
        { by: 'two', what: 'success', earlier: remembered },
      ]);
    } finally {
      vi.useRealTimers();
    }
  });

  test('commits no turn under a layout that is not the current one any more', async () => {
    await using site = await openSchedulers();
    const one = await site.start('one');
    await one.scheduler.ready;
    const { layout } = site.paths.tenant('acme');
    let stale = false;
    const two = await site.start('two', {
      // Its turns are held up until a newer layout is there.
      before: async (_, operations) => {
        if (stale || !operations.some(each => each.kind === 'check' && each.path === layout)) return;
        stale = true;
        const version = (await storedLayout(site))?.version;
        await site.push(LAYOUT_2);
        await eventually(async () => (await storedLayout(site))?.version !== version, 'a new layout');
      },
    });
    await two.scheduler.ready;
    await takeAway(site, lockOf(site));
    site.holdBuilds();
    await site.approve('login');
    await eventually(() => stale, 'a turn of two');
    site.releaseBuilds();
    await site.quiet();
    expect(await jobsOf(site)).toEqual(['style']);
    expect(two.lines.filter(line => line.includes('commit conflict, retrying turn'))).not.toEqual([]);
    expect(two.lines.filter(line => line.includes(' error:'))).toEqual([]);
  });
});

describe('a tenant file that differs', () => {
  const OTHER = projectKey({ connection: 'local', name: 'acme/other' });
  const bigger = {
    ...TENANT,
    projects: [
      ...TENANT.projects,
      { project: OTHER, trusted: false, includeBranches: [], excludeBranches: [] },
    ],
  };

  test('counts when its scheduler holds the tenant; until then that of the holder counts for both', async () => {
    await using site = await openSchedulers();
    const one = await site.start('one');
    await one.scheduler.ready;
    const two = await site.start('two', { tenant: bigger });
    await two.scheduler.ready;
    expect((await storedLayout(site))?.builtFrom?.projects).toHaveLength(2);
    expect((await storedLayout(site))?.version).toBe(1);
    await one.stop();
    await eventually(async () => (await storedLayout(site))?.version === 2, 'the layout of two');
    expect((await storedLayout(site))?.builtFrom?.projects.map(({ project }) => project)).toContain(OTHER);
    // Only what was not known yet was read.
    expect(site.host.asked.filter(kind => kind === 'config-files')).toHaveLength(3);
    await site.approve('login');
    await site.quiet();
    expect(site.host.effects.filter(({ kind }) => kind === 'land')).toHaveLength(1);
  });

  test('may name a tenant that the holder of the connection does not know: it gets its events all the same', async () => {
    await using site = await openSchedulers();
    const one = await site.start('one');
    await one.scheduler.ready;
    await eventually(() => site.host.listening.has('one'), 'one holds the connection');
    const two = await site.start('two', { tenants: [TENANT, { ...TENANT, name: 'umbrella' }] });
    await two.scheduler.ready;
    await site.approve('login');
    await site.quiet();
    await eventually(
      async () => (await site.history()).filter(row => row.kind === 'item').length === 2,
      'both items',
    );
    const tenants = (await site.history()).flatMap(row => (row.kind === 'item' ? [row.item.tenant] : []));
    expect(tenants.sort()).toEqual(['acme', 'umbrella']);
    expect([...site.host.listening]).toEqual(['one']);
  });

  test('is followed by a scheduler that does not know it', async () => {
    await using site = await openSchedulers();
    const one = await site.start('one', { tenant: bigger });
    await one.scheduler.ready;
    const two = await site.start('two');
    await two.scheduler.ready;
    await takeAway(site, lockOf(site));
    await site.approve('login');
    await site.quiet();
    expect((await storedLayout(site))?.version).toBe(1);
    expect(new Set(site.host.effects.map(({ by }) => by))).toEqual(new Set(['two']));
  });
});

describe('the end of a session', () => {
  test('ends the scheduler, which logs it, and another one begins in the same process', async () => {
    await using site = await openSchedulers();
    const one = await site.start('one');
    await one.scheduler.ready;
    site.holdBuilds();
    await site.approve('login');
    await eventually(async () => (await site.items())[0]?.buildset.builds.length === 1, 'a build');
    await one.kill();
    const error = await one.ended;
    expect(error).toBeInstanceOf(StoreError);
    expect(error).toMatchObject({ code: 'SessionExpired' });
    site.releaseBuilds();
    const again = await site.start('one again');
    await again.scheduler.ready;
    await site.quiet();
    expect(site.host.effects.map(({ kind }) => kind)).toEqual(['note', 'land', 'note']);
    await again.stop();
    expect(await again.ended).toBeUndefined();
  });

  test('ends also a scheduler that waits for a code host that does not answer', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    try {
      await using site = await openSchedulers();
      const one = await site.start('one');
      await one.scheduler.ready;
      let asked = false;
      site.host.before = () => {
        asked = true;
        return new Promise(() => {});
      };
      await site.approve('login');
      await eventually(() => asked, 'the host is asked');
      await one.kill();
      await vi.advanceTimersByTimeAsync(10_000);
      expect(await one.ended).toMatchObject({ code: 'SessionExpired' });
      expect(one.lines.at(-1)).toContain('some of its loops did not');
    } finally {
      vi.useRealTimers();
    }
  });

  test('ends also a scheduler that was not ready yet', async () => {
    await using site = await openSchedulers('- pipeline: [');
    const one = await site.start('one');
    await one.kill();
    expect(await one.ended).toMatchObject({ code: 'SessionExpired' });
  });
});

describe('a paused scheduler', () => {
  test('gives everything back, and takes nothing until it is resumed', async () => {
    await using site = await openSchedulers();
    const one = await site.start('one');
    await one.scheduler.ready;
    one.scheduler.pause();
    const locks = [
      lockOf(site),
      site.paths.tenant('acme').lock,
      site.paths.connection('local').election,
      site.paths.sweeper.lock,
    ];
    await eventually(
      async () =>
        (await Promise.all(locks.map(lock => holderOf(site, lock)))).every(each => each === undefined),
      'all locks are free',
    );
    await site.approve('login');
    const two = await site.start('two');
    await two.scheduler.ready;
    await site.quiet();
    expect(new Set(site.host.effects.map(({ by }) => by))).toEqual(new Set(['two']));
    one.scheduler.resume();
    await two.scheduler.drain();
    await site.approve('logout');
    await site.quiet();
    expect(site.host.effects.at(-1)?.by).toBe('one');
    expect([...site.host.listening]).toEqual(['one']);
    expect([...one.lines, ...two.lines].filter(line => / (warn|error):/.test(line))).toEqual([]);
  });
});

describe('a scheduler that was stopped for longer than its session', () => {
  test('does nothing at the host and writes nothing when it goes on', async () => {
    await using site = await openSchedulers();
    let writes = 0;
    const { one, two } = await both(site, () => {
      writes += 1;
    });
    const goOn = Promise.withResolvers<void>();
    let stopped = false;
    site.host.before = async by => {
      if (by !== 'one' || stopped) return;
      stopped = true;
      await goOn.promise; // it has proved its right to report, and stands still
    };
    await site.approve('login');
    await eventually(() => stopped, 'one is about to report');
    one.faulty.suspend();
    await one.kill();
    await site.quiet();
    const before = writes;
    goOn.resolve();
    await one.ended;
    expect(site.host.effects.map(({ kind, by }) => `${kind} ${by}`)).toEqual([
      'note two',
      'land two',
      'note two',
    ]);
    expect(writes).toBe(before);
    await two.stop();
  });

  test('goes on under the same fences when it was merely out of contact for a while', async () => {
    await using site = await openSchedulers();
    const { one } = await both(site);
    site.holdBuilds();
    await site.approve('login');
    await eventually(async () => (await site.items())[0]?.buildset.builds.length === 1, 'a build');
    const epoch = (await site.store.get(site.paths.pipeline('acme', 'gate').epoch))?.stat.version;
    one.faulty.suspend();
    site.releaseBuilds();
    await eventually(
      async () => ((await site.store.children(`${site.paths.requests('build')}/queue`))?.length ?? 1) === 0,
      'the build is over',
    );
    expect(site.host.effects.filter(({ kind }) => kind === 'land')).toEqual([]);
    one.faulty.resume();
    await site.quiet();
    expect(site.host.effects.map(({ kind, by }) => `${kind} ${by}`)).toEqual([
      'note one',
      'land one',
      'note one',
    ]);
    expect((await site.store.get(site.paths.pipeline('acme', 'gate').epoch))?.stat.version).toBe(epoch);
    expect(one.lines.filter(line => / (warn|error):/.test(line))).toEqual([]);
  });
});
