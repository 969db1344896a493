import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type History, openHistory } from '../../../src/history/history.ts';
import { buildJson, buildsetJson } from '../../../src/history/history-json.ts';
import type { HistoryRow } from '../../../src/model/history.ts';
import { finishedItems, gateItems, sampleDecisions } from '../web/sample-gate.ts';
import { sampleItem, uuidOf } from '../web/sample-item.ts';

const logUrl = (tenant: string, build: string) => `/log/${tenant}/${build}`;

describe('history', () => {
  let directory: string;
  let history: History;

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'gatehouse-history-'));
    history = await openHistory({ file: join(directory, 'history.sqlite') });
    await history.record(rows());
  });

  afterEach(async () => {
    await history.close();
    await rm(directory, { recursive: true });
  });

  test('a build is shown in the words of Zuul, with our facts beside them', async () => {
    const [build] = await history.builds({ tenant: 'main', result: ['FAILURE'] });

    expect(buildJson(build!, logUrl)).toEqual({
      _id: 2,
      uuid: uuidOf('schema', 'build', '1', 'unit-tests', '1'),
      job_name: 'unit-tests',
      result: 'FAILURE',
      held: false,
      start_time: '2026-11-20T11:55:06',
      end_time: '2026-11-20T11:56:50',
      duration: 104,
      voting: true,
      log_url: `/log/main/${uuidOf('schema', 'build', '1', 'unit-tests', '1')}`,
      nodeset: null,
      error_detail: '1 of 409 tests failed',
      final: true,
      artifacts: [],
      provides: [],
      pipeline: 'gate',
      event_id: uuidOf('schema', 'event'),
      event_timestamp: '2026-11-20T11:54:59',
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
        waiting_ms: 4000,
        running_ms: 104_000,
        requested_at: build!.requested_at,
        started_at: build!.start_time,
        ended_at: build!.end_time,
      },
    });
  });

  test('a superseded buildset is DEQUEUED and the one after it names the cause', async () => {
    const buildsets = await history.buildsets({ tenant: 'main', change: ['master/metrics'] });

    expect(buildsets.map(buildset => [buildset.number, buildset.result])).toEqual([
      [2, 'SUCCESS'],
      [1, 'DEQUEUED'],
    ]);
    const found = await history.buildset('main', uuidOf('metrics', 'buildset', '2'));
    const json = buildsetJson(found!.buildset, { builds: found!.builds, logUrl });
    expect(json.builds).toHaveLength(3);
    expect(json.retry_builds).toEqual([]);
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
    history = await openHistory({ file: ':memory:' });
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

  test('the expected duration of a job is the mean of its successes', async () => {
    expect(await history.expectedDuration({ tenant: 'main', project: 'local/acme/lib', job: 'lint' })).toBe(
      24_500,
    );
    expect(
      await history.expectedDuration({ tenant: 'main', project: 'local/acme/app', job: 'unit-tests' }),
    ).toBeUndefined();
  });

  test('what was recorded is there after reopening', async () => {
    await history.close();
    history = await openHistory({ file: join(directory, 'history.sqlite') });
    expect(await history.builds({ tenant: 'main' })).toHaveLength(8);
  });

  test('a database of a newer version is refused with advice', async () => {
    const file = join(directory, 'newer.sqlite');
    await (await openHistory({ file })).close();
    const database = new DatabaseSync(file);
    database.exec(
      "insert into kysely_migration (name, timestamp) values ('9999-from-the-future', '2030-01-01T00:00:00Z')",
    );
    database.close();

    await expect(openHistory({ file })).rejects.toThrow(/newer\.sqlite cannot be used by this version/);
  });
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
