import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Kysely } from 'kysely';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { buildJson, buildsetJson } from '../../../src/api/builds.ts';
import { testKey } from '../../../src/history/failed-tests.ts';
import { type History, type HistoryPlace, openHistory } from '../../../src/history/history.ts';
import { postgresDialect } from '../../../src/history/postgres-dialect.ts';
import { nodeSqliteDialect } from '../../../src/history/sqlite-dialect.ts';
import { sha256 } from '../../../src/lib/ids.ts';
import { Secret } from '../../../src/lib/secret.ts';
import type { ResetCause } from '../../../src/model/cause.ts';
import type { HistoryRow } from '../../../src/model/history.ts';
import { isFailed } from '../../../src/model/job-standing.ts';
import type { QueueItem } from '../../../src/model/queue-item.ts';
import { checkedItems, unlandedItem } from '../../fake/gerrit-change-items.ts';
import { type PostgresServer, startPostgres } from '../../fake/postgres-server.ts';
import { finishedItems, gateItems, sampleDecisions } from '../web/sample-gate.ts';
import { at, sampleItem, uuidOf } from '../web/sample-item.ts';

/** A copy of an item that failed, of another change, with a test that failed. */
function failedIn(name: string): QueueItem {
  const source = finishedItems().find(({ buildset }) => buildset.builds.some(isFailed));
  const text = JSON.stringify(source)
    .replaceAll(/\b[0-9a-f]{32}\b/g, hash => sha256(name + hash).slice(0, 32))
    .replaceAll('master/schema', `master/${name}`);
  const item: QueueItem = JSON.parse(text);
  const times = { startedAt: at(1), endedAt: at(2) };
  const failed = { kind: 'TestCase', subject: 'refuses', ...times, result: 'FAILURE' } as const;
  const suite = { kind: 'TestSuite', subject: 'app', ...times, steps: [failed] } as const;
  const steps = [
    { kind: 'Playbook', subject: 'run', ...times, steps: [suite] },
    { kind: 'TestResults', subject: 'unit', ...times, facts: { cases: 1, failed: 1 } },
  ] as const;
  const builds = item.buildset.builds.map(build =>
    build.state.state === 'completed'
      ? { ...build, state: { ...build.state, execution: { ...times, steps } } }
      : build,
  );
  return { ...item, buildset: { ...item.buildset, builds } };
}

/** The same change, in another item whose jobs ran the test. */
function passedIn(name: string, run: number, patchset?: string): QueueItem {
  const item = failedIn(name);
  const text = JSON.stringify(item).replaceAll(/\b[0-9a-f]{32}\b/g, hash => sha256(run + hash).slice(0, 32));
  const again: QueueItem = JSON.parse(text);
  const times = { startedAt: at(3), endedAt: at(4) };
  const facts = { cases: 1, failed: 0, passed: JSON.stringify([{ suite: 'app', name: 'refuses' }]) };
  const steps = [{ kind: 'TestResults', subject: 'unit', ...times, facts }] as const;
  const builds = again.buildset.builds.map(build =>
    build.state.state === 'completed'
      ? { ...build, state: { ...build.state, execution: { ...times, steps } } }
      : build,
  );
  const [first, ...rest] = item.changes;
  const change = first.kind === 'change' && patchset !== undefined ? { ...first, patchset } : first;
  return { ...again, changes: [change, ...rest], buildset: { ...again.buildset, builds } };
}

const context = {
  logUrl: (tenant: string, build: string) => `/log/${tenant}/${build}/`,
  held: new Set<string>(),
};

describe.each(['sqlite', 'postgresql'] as const)('history in %s', kind => {
  let directory: string;
  let server: PostgresServer | undefined;
  let place: HistoryPlace;
  let history: History;

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'gatehouse-history-'));
    if (kind === 'postgresql') server = await startPostgres();
  });
  afterAll(async () => {
    await history.close();
    await server?.[Symbol.asyncDispose]();
    await rm(directory, { recursive: true });
  });

  let isAsRecorded = false;
  let made = 0;
  // To make one takes a PostgreSQL a tenth of a second: what only reads leaves it to the next test.
  beforeEach(async () => {
    if (isAsRecorded) return;
    await server?.clear();
    made += 1;
    place =
      server === undefined
        ? { kind: 'sqlite', path: join(directory, `history${made}.sqlite`) }
        : { kind: 'postgresql', uri: new Secret(server.uri) };
    const opened = await openHistory(place);
    await opened.record(rows());
    isAsRecorded = true;
    history = {
      ...opened,
      record: given => changes(opened.record(given)),
      prune: step => changes(opened.prune(step)),
      close: () => changes(opened.close()),
    };
  });
  function changes<T>(outcome: Promise<T>): Promise<T> {
    isAsRecorded = false;
    return outcome;
  }

  afterEach(async () => {
    if (!isAsRecorded) await history.close();
  });

  test('a build is shown in the words of Zuul, with our facts beside them', async () => {
    const [build] = await history.builds({ tenant: 'main', result: ['FAILURE'] });

    expect(buildJson(build!, context)).toEqual({
      _id: 2,
      uuid: uuidOf('schema', 'build', '1', 'unit-tests', '1'),
      job_name: 'unit-tests',
      result: 'FAILURE',
      held: false,
      execute_time: '2026-11-20T11:55:02',
      start_time: '2026-11-20T11:55:06',
      end_time: '2026-11-20T11:56:50',
      duration: 104,
      voting: true,
      log_url: `/log/main/${uuidOf('schema', 'build', '1', 'unit-tests', '1')}/`,
      nodeset: null,
      error_detail: '1 of 409 tests failed',
      final: true,
      artifacts: [],
      provides: [],
      pipeline: 'gate',
      event_id: uuidOf('schema', 'event'),
      event_timestamp: '2026-11-20T11:54:59',
      queue_item_uuid: uuidOf('schema'),
      ref: {
        project: 'acme/app',
        branch: 'master',
        change: 'master/schema',
        patchset: build!.ref.patchset,
        ref: 'refs/heads/for/master/schema',
        oldrev: null,
        newrev: null,
        ref_url: 'https://git.example.org/acme/schema',
      },
      buildset: { uuid: uuidOf('schema', 'buildset', '1') },
      gatehouse: {
        item: uuidOf('schema'),
        attempt: 1,
        cause: null,
        trace_id: uuidOf('schema'),
        span_id: uuidOf('schema', 'build', '1', 'unit-tests', '1').slice(0, 16),
        worker: 'executor-1',
        warnings: [],
        file_comments: [],
        waiting_ms: 4000,
        running_ms: 104_000,
        requested_at: build!.requested_at,
        started_at: build!.start_time,
        ended_at: build!.end_time,
      },
    });
  });

  test('a build by itself has what the page of Zuul reads: all changes of its buildset, and the list of its files', async () => {
    const [build] = await history.builds({ tenant: 'main', result: ['FAILURE'] });
    const held = new Set([build!.uuid]);

    expect(buildJson(build!, { ...context, held }, { trace_url: null })).toMatchObject({
      held: true,
      buildset: { refs: [{ project: 'acme/app', change: 'master/schema' }] },
      artifacts: [
        {
          name: 'Zuul Manifest',
          url: `/log/main/${build!.uuid}/zuul-manifest.json`,
          metadata: { type: 'zuul_manifest' },
        },
      ],
    });
    expect(buildJson({ ...build!, log_url: 'https://logs' }, context, {}).artifacts).toEqual([]);
  });

  test('results and builds that are not wanted are left out', async () => {
    const all = await history.builds({ tenant: 'main' });
    const [first] = all;
    const rest = await history.builds({ tenant: 'main', excludeUuid: [first!.uuid] });
    expect(rest).toEqual(all.slice(1));
    const others = await history.builds({ tenant: 'main', excludeResult: ['SUCC*', 'FAILURE'] });
    expect(others.length).toBeGreaterThan(0);
    expect(others).toEqual(all.filter(({ result }) => result !== 'SUCCESS' && result !== 'FAILURE'));
    const buildsets = await history.buildsets({ tenant: 'main', excludeResult: ['DEQUEUED'] });
    expect(buildsets.map(({ result }) => result)).not.toContain('DEQUEUED');
    expect(buildsets.length).toBeGreaterThan(0);
  });

  test('a superseded buildset is DEQUEUED and the one after it names the cause', async () => {
    const buildsets = await history.buildsets({ tenant: 'main', change: ['master/metrics'] });

    expect(buildsets.map(buildset => [buildset.number, buildset.result])).toEqual([
      [2, 'SUCCESS'],
      [1, 'DEQUEUED'],
    ]);
    const found = await history.buildset('main', uuidOf('metrics', 'buildset', '2'));
    const json = buildsetJson(found!.buildset, { builds: found!.builds, ...context });
    expect(json.builds).toHaveLength(3);
    expect(json.builds?.map(({ ref }) => ref.change)).toEqual(Array(3).fill('master/metrics'));
    expect(json.gatehouse).toMatchObject({
      number: 2,
      cause: { code: 'item-ahead-failed', culprit: { job: 'unit-tests' } },
    });
    expect(json.first_build_start_time).toBe('2026-11-20T11:56:56');
    expect(json.last_build_end_time).toBe('2026-11-20T11:59:16');
  });

  test('a build that was kept after a reset is recorded once, with the buildset it counts for', async () => {
    const item = finishedItems()[1]!;
    const [lint] = item.earlier[0]!.builds;
    const kept = { ...item.buildset, uuid: uuidOf('kept', 'buildset', '2'), builds: [lint!] };
    const first = { ...item.earlier[0]!, uuid: uuidOf('kept', 'buildset', '1'), builds: [lint!] };
    await history.close();
    await server?.clear();
    history = await openHistory(server === undefined ? { kind: 'sqlite', path: ':memory:' } : place);
    await history.record([
      { kind: 'item', item: { ...item, uuid: uuidOf('kept'), buildset: kept, earlier: [first] } },
    ]);

    expect((await history.builds({ tenant: 'main' })).map(build => build.buildset.number)).toEqual([2]);
  });

  test('rows handed over twice are kept once', async () => {
    await history.record(rows());
    await history.record(rows());

    expect(await history.builds({ tenant: 'main' })).toHaveLength(8);
    expect(await history.buildsets({ tenant: 'main' })).toHaveLength(4);
    expect(await history.decisions({ tenant: 'main', change: 'master/fast-login' })).toHaveLength(2);
  });

  test('a row that cannot be recorded leaves nothing of its batch', async () => {
    const good = { kind: 'item', item: sampleItem('late', lateItem()) } as const;
    const stillQueued = { kind: 'item', item: gateItems()[0]! } as const;

    await expect(history.record([good, stillQueued])).rejects.toThrow('has not left its queue');
    expect(await history.item('main', uuidOf('late'))).toBeUndefined();
  });

  test('an item is given back as it left', async () => {
    const [item] = finishedItems();
    expect(await history.item('main', item!.uuid)).toEqual(item);
  });

  test('nothing of another tenant is in any answer', async () => {
    const [item] = finishedItems();
    expect(await history.builds({ tenant: 'other' })).toEqual([]);
    expect(await history.buildsets({ tenant: 'other' })).toEqual([]);
    expect(await history.build('other', uuidOf('schema', 'build', '1', 'lint', '1'))).toBeUndefined();
    expect(await history.buildset('other', uuidOf('schema', 'buildset', '1'))).toBeUndefined();
    expect(await history.item('other', item!.uuid)).toBeUndefined();
    expect(await history.recentItems({ tenant: 'other', limit: 10, skip: 0 })).toEqual([]);
    expect(await history.decisions({ tenant: 'other', change: 'master/fast-login' })).toEqual([]);
  });

  test.each([
    [{ project: ['acme/lib'] }, 5],
    [{ project: ['local/acme/lib'] }, 5],
    [{ project: ['acme/lib', 'acme/app'] }, 8],
    [{ project: ['acme/*'] }, 8],
    [{ project: ['acme/_ib'] }, 0],
    [{ project: ['ACME/*'] }, 0],
    [{ pipeline: ['check'] }, 1],
    [{ jobName: ['unit-*'] }, 3],
    [{ branch: ['master'], result: ['CANCELED'] }, 2],
    [{ voting: false }, 0],
    [{ final: true }, 8],
    [{ complete: false }, 0],
    [{ ref: ["' or 1=1 --"] }, 0],
    [{ idxMin: 3, idxMax: 4 }, 2],
    [{ limit: 3 }, 3],
    [{ limit: 3, skip: 7 }, 1],
    [{ jobName: [] }, 0],
  ])('builds narrowed by %j are %i', async (filter, count) => {
    expect(await history.builds({ tenant: 'main', ...filter })).toHaveLength(count);
  });

  test('lists come newest first, decisions oldest first', async () => {
    const ids = (await history.builds({ tenant: 'main' })).map(build => build.id);
    expect(ids).toEqual(ids.toSorted((a, b) => b! - a!));
    const decisions = await history.decisions({
      tenant: 'main',
      project: 'acme/app',
      change: 'master/fast-login',
    });
    expect(decisions.map(decision => decision.code)).toEqual(['trigger-matched', 'enqueued']);
    const recent = await history.recentItems({ tenant: 'main', limit: 2, skip: 0 });
    expect(recent.map(({ item }) => item.uuid)).toEqual([uuidOf('spike'), uuidOf('metrics')]);
  });

  test('items of a change come newest first, by project, patch set and tenant', async () => {
    const [older, newer] = checkedItems();
    await history.record([older, newer, unlandedItem()].map(item => ({ kind: 'item', item }) as const));
    const question = { tenant: 'main', project: 'acme/app', change: '12', limit: 10 };
    const uuids = async (more: object) =>
      (await history.itemsOfChange({ ...question, ...more })).map(item => item.uuid);
    const unlanded = uuidOf('unlanded');
    expect(await uuids({})).toEqual([unlanded, newer.uuid, older.uuid]);
    expect(await uuids({ limit: 1 })).toEqual([unlanded]);
    expect(await uuids({ patchset: '3' })).toEqual([newer.uuid, older.uuid]);
    expect(await uuids({ projectKey: 'local/acme/app', patchset: '4' })).toEqual([unlanded]);
    for (const other of [
      { projectKey: 'other/acme/app' },
      { project: 'acme/lib' },
      { change: '1' },
      { tenant: 'x' },
    ])
      expect(await uuids(other)).toEqual([]);
  });

  test('items that left a pipeline in a stretch of time come page by page, newest first', async () => {
    const left = (name: string, seconds: number, pipeline = 'gate') =>
      sampleItem(name, {
        pipeline,
        at: seconds - 10,
        buildsets: [{ at: seconds - 10 }],
        timeline: [['merge', seconds - 10]],
        left: { at: seconds, reason: 'reported', result: 'SUCCESS' },
      });
    const names = Array.from({ length: 7 }, (_, index) => `later-${index}`);
    await history.record([
      ...names.map((name, index) => ({ kind: 'item' as const, item: left(name, 1000 + index) })),
      { kind: 'item', item: left('elsewhere', 1003, 'check') },
    ]);
    const question = { tenant: 'main', pipeline: 'gate', since: at(1001), until: at(1006), limit: 2 };
    const pages: string[][] = [];
    let before: number | undefined;
    do {
      const { items, next } = await history.itemsLeft({
        ...question,
        ...(before === undefined ? {} : { before }),
      });
      pages.push(items.map(item => item.changes[0].key.slice(-7)));
      before = next ?? undefined;
    } while (before !== undefined);
    expect(pages).toEqual([['later-5', 'later-4'], ['later-3', 'later-2'], ['later-1']]);

    const all = await history.itemsLeft({ tenant: 'main', since: at(1003), limit: 100 });
    expect(all.items.map(item => item.pipeline)).toEqual(['check', 'gate', 'gate', 'gate', 'gate']);
    expect(all.next).toBeNull();
    expect((await history.itemsLeft({ ...question, tenant: 'other' })).items).toEqual([]);
  });

  test('the expected duration of a job is the mean of its successes', async () => {
    expect(await history.expectedDuration({ tenant: 'main', project: 'local/acme/lib', job: 'lint' })).toBe(
      24_500,
    );
    expect(
      await history.expectedDuration({ tenant: 'main', project: 'local/acme/app', job: 'unit-tests' }),
    ).toBeUndefined();
  });

  test('the newest builds are read for statistics, with what they tested', async () => {
    const runs = await history.recentRuns({ tenant: 'main', limit: 100 });
    const failed = runs.filter(({ result }) => result === 'FAILURE');
    expect(failed).toHaveLength((await history.builds({ tenant: 'main', result: ['FAILURE'] })).length);
    expect(failed.at(-1)).toMatchObject({
      job: 'unit-tests',
      project_key: expect.stringContaining('acme/app'),
    });
    const [newest] = await history.builds({ tenant: 'main', jobName: ['unit-tests'], limit: 1 });
    expect(await history.recentRuns({ tenant: 'main', job: 'unit-tests', limit: 1 })).toEqual([
      expect.objectContaining({ job: 'unit-tests', start_time: newest!.start_time, ref: newest!.ref.ref }),
    ]);
    expect(await history.recentRuns({ tenant: 'other', limit: 100 })).toEqual([]);
  });

  test('the expected durations of all jobs come in one answer', async () => {
    const durations = await history.recentDurations();
    expect(durations).toContainEqual({
      tenant: 'main',
      project: 'local/acme/lib',
      job: 'lint',
      ms: 24_500,
    });
    for (const { tenant, project, job, ms } of durations)
      expect(await history.expectedDuration({ tenant, project, job })).toBe(ms);
    expect(durations.map(each => `${each.project} ${each.job}`)).not.toContain('local/acme/app unit-tests');
  });

  test('a test that other changes failed is found by its key, those of the change itself and old ones are not', async () => {
    const items = ['one', 'two'].map(failedIn);
    await history.record(items.map(item => ({ kind: 'item', item })));
    const [change] = items[0]?.changes ?? [];
    if (change === undefined) expect.unreachable();
    const key = testKey(change.project, { suite: 'app', name: 'refuses' });
    const ask = (but: string, since = at(-1_000)) =>
      history.failedElsewhere({ tenant: 'main', keys: [key, 'f'.repeat(32)], but, since });
    const builds = items.map(item => item.buildset.builds.find(isFailed)?.uuid);
    const found = await ask(change.key);
    expect([...found]).toEqual([[key, { changes: 1, last: expect.objectContaining({ build: builds[1] }) }]]);
    expect((await ask('another')).get(key)?.changes).toBe(2);
    expect((await ask('another', at(1_000))).size).toBe(0);
    await history.prune({ before: at(10_000), most: 1_000 });
    expect((await ask('another')).size).toBe(0);
  });

  test('runs of a test that failed lately are counted, and changes that passed it as they were', async () => {
    const [one, two] = [failedIn('one'), failedIn('two')];
    const items = [one, two, passedIn('one', 1), passedIn('two', 2, 'another'), passedIn('three', 3)];
    await history.record(items.map(item => ({ kind: 'item', item })));
    const change = two.changes[0];
    if (change?.kind !== 'change') expect.unreachable();
    const key = testKey(change.project, { suite: 'app', name: 'refuses' });
    const jobs = one.buildset.builds.filter(({ state }) => state.state === 'completed').length;
    const failed = one.buildset.builds.filter(isFailed).length;
    const ask = (patchset: string | null, since = at(-1_000), but: string = change.key) =>
      history.testRuns({ tenant: 'main', keys: [key, 'f'.repeat(32)], but, since, patchset });
    const others = { failed, passed: 2 * jobs, unchanged: 1 };
    expect([...(await ask(change.patchset))]).toEqual([[key, { ...others, here: 0 }]]);
    expect([...(await ask('another'))]).toEqual([[key, { ...others, here: jobs }]]);
    expect((await ask(null, at(-1_000), 'nothing')).get(key)).toEqual({
      ...{ failed: 2 * failed, passed: 3 * jobs, unchanged: 1, here: 0 },
    });
    expect((await ask(null, at(1_000))).size).toBe(0);
    await history.prune({ before: at(10_000), most: 1_000 });
    expect((await ask('another')).size).toBe(0);
  });

  test('what failed in a buildset that a person had repeated is counted, what was thrown out is not', async () => {
    const count = async (code: 'rerun' | 'ahead-failed', name: string) => {
      const item = failedIn(name);
      const again = passedIn(name, 9);
      const cause = { code, at: at(3), culprit: null, promoter: null } as unknown as ResetCause;
      const superseded = { state: 'superseded', at: at(3), cause, graph: null } as const;
      const earlier = [{ ...item.buildset, stage: superseded }];
      await history.record([{ kind: 'item', item: { ...again, earlier } }]);
      const change = item.changes[0];
      if (change?.kind !== 'change') expect.unreachable();
      const key = testKey(change.project, { suite: 'app', name: 'refuses' });
      const asked = { tenant: 'main', keys: [key], but: 'nothing', since: at(-1_000), patchset: null };
      return (await history.testRuns(asked)).get(key);
    };
    const thrown = await count('ahead-failed', 'thrown');
    expect(thrown).toMatchObject({ failed: 0, unchanged: 0 });
    expect(await count('rerun', 'repeated')).toMatchObject({ failed: 1, unchanged: 1 });
  });

  test('what was recorded is there after reopening', async () => {
    await history.close();
    history = await openHistory(place);
    expect(await history.builds({ tenant: 'main' })).toHaveLength(8);
  });

  test('several processes may open it at once, the first time too', async () => {
    await history.close();
    await server?.clear();
    if (place.kind === 'sqlite') place = { ...place, path: join(directory, 'fresh.sqlite') };
    const where = place.kind === 'sqlite' ? place.path : place.uri.reveal();
    const script = join(import.meta.dirname, 'opening-process.ts');
    const open = () => promisify(execFile)(process.execPath, [script, kind, where]);
    await Promise.all([open(), open(), open()]);
    history = await openHistory(place);
    expect(await history.decisions({ tenant: 'main', change: 'master/fast-login' })).toHaveLength(2);
  });

  test('nothing stays of a step that failed half way', async () => {
    await history.close();
    await server?.clear();
    if (place.kind === 'sqlite') place = { ...place, path: join(directory, 'foreign.sqlite') };
    const dialect = () =>
      place.kind === 'sqlite' ? nodeSqliteDialect(place.path) : postgresDialect(place.uri.reveal(), () => {});
    const foreign = new Kysely<Record<string, never>>({ dialect: dialect() });
    await foreign.schema.createTable('decision').addColumn('theirs', 'text').execute();

    await expect(openHistory(place)).rejects.toThrow('decision');

    const tables = (await foreign.introspection.getTables()).map(table => table.name);
    expect(tables.filter(name => !name.startsWith('kysely_'))).toEqual(['decision']);
    await foreign.schema.dropTable('decision').execute();
    await foreign.destroy();
    history = await openHistory(place);
    expect(await history.builds({ tenant: 'main' })).toEqual([]);
  });

  test('text that SQL cannot hold is shown as a sign for it', async () => {
    const [item] = finishedItems();
    const [build, ...others] = item!.buildset.builds;
    const { state } = build!;
    if (state.state !== 'completed') throw new Error('expected a completed build');
    const odd = { ...build!, uuid: uuidOf('odd', 'build'), state: { ...state, detail: 'NUL \0 inside' } };
    const buildset = { ...item!.buildset, uuid: uuidOf('odd', 'buildset'), builds: [odd] };
    await history.record([{ kind: 'item', item: { ...item!, uuid: uuidOf('odd'), buildset, earlier: [] } }]);
    expect(others).not.toEqual([]);
    expect((await history.build('main', odd.uuid))?.error_detail).toBe('NUL \u2400 inside');
  });

  test('a database of a newer version is refused with advice', async () => {
    await history.close();
    const database = new Kysely<{ kysely_migration: { name: string; timestamp: string } }>({
      dialect:
        place.kind === 'sqlite'
          ? nodeSqliteDialect(place.path)
          : postgresDialect(place.uri.reveal(), () => {}),
    });
    await database
      .insertInto('kysely_migration')
      .values({ name: '9999-from-the-future', timestamp: '2030-01-01T00:00:00Z' })
      .execute();
    await database.destroy();

    await expect(openHistory(place)).rejects.toThrow(
      /(history\d+\.sqlite|postgresql:\/\/127\.0\.0\.1:\d+\/postgres) cannot be used by this version/,
    );
  });
});

test('a PostgreSQL server that is not there is named without its password', async () => {
  const uri = new Secret('postgresql://gate:hunter2@127.0.0.1:1/history');
  const refusal = await openHistory({ kind: 'postgresql', uri }).catch((error: Error) => error.message);
  expect(refusal).toContain('postgresql://127.0.0.1:1/history');
  expect(refusal).not.toContain('hunter2');
});

function rows(): readonly HistoryRow[] {
  return [
    ...finishedItems().map(item => ({ kind: 'item', item }) as const),
    { kind: 'decisions', decisions: sampleDecisions() },
  ];
}

function lateItem() {
  return {
    at: 0,
    buildsets: [{ at: 0 }],
    timeline: [['merge', 0]] as const,
    left: { at: 1, reason: 'abandoned', result: 'DEQUEUED' } as const,
  };
}
