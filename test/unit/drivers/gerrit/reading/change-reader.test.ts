import { describe, expect, test } from 'vitest';
import { readChangeInfo } from '../../../../../drivers/gerrit/api/change-info.ts';
import type { GerritAnswer, GerritApi, GerritCall } from '../../../../../drivers/gerrit/api/port.ts';
import {
  type ChangeReader,
  createChangeReader,
} from '../../../../../drivers/gerrit/reading/change-reader.ts';
import type { Clock } from '../../../../../src/lib/clock.ts';
import { fromMilliseconds } from '../../../../../src/lib/clock.ts';
import type { Json } from '../../../../../src/model/job.ts';
import type { Step } from '../../../../../src/model/step.ts';

const START = Date.UTC(2026, 10, 24, 4, 0, 0);
const timeText = (ms: number) => `${new Date(ms).toISOString().slice(0, 19).replace('T', ' ')}.000000000`;
const commitOf = (number: number, patchset: number) =>
  `${number}`.padStart(36, '0') + `${patchset}`.padStart(4, '0');

interface World {
  now: number;
  readonly asked: string[];
  readonly pauses: number[];
  readonly changes: Map<number, { patchset: number; updated: number; status?: string }>;
  /** What queries show, if it differs. */
  readonly index: Map<number, { patchset: number; updated: number } | null>;
  answer?: (path: string) => GerritAnswer<Json> | Promise<GerritAnswer<Json>> | undefined;
}

function json(
  number: number,
  { patchset, updated, status = 'NEW' }: { patchset: number; updated: number; status?: string },
): Json {
  const revisions = Array.from({ length: patchset }, (_, index) => [
    commitOf(number, index + 1),
    {
      _number: index + 1,
      ref: `refs/changes/${number}/${index + 1}`,
      created: timeText(START),
      commit: { parents: [], message: 'A' },
    },
  ]);
  return {
    _number: number,
    project: 'acme/app',
    branch: 'main',
    change_id: `I${number}`,
    status,
    created: timeText(START),
    updated: timeText(updated),
    current_revision: commitOf(number, patchset),
    revisions: Object.fromEntries(revisions),
  };
}

function openWorld(): World & {
  readonly reader: ChangeReader;
  readonly clock: Clock;
  readonly steps: Step[];
  call(over?: Partial<GerritCall>): GerritCall;
} {
  const world: World = { now: START, asked: [], pauses: [], changes: new Map(), index: new Map() };
  for (let number = 1; number <= 60; number += 1) world.changes.set(number, { patchset: 1, updated: START });
  const clock: Clock = { now: () => fromMilliseconds(world.now), monotonic: () => world.now };
  const steps: Step[] = [];
  const api: GerritApi = {
    async ask({ path }, call) {
      world.asked.push(path.replace(/(?:&n=\d+)?[?&]o=.*$/, ''));
      await Promise.resolve();
      call.signal.throwIfAborted();
      const special = await world.answer?.(path);
      return special ?? answerOf(world, path);
    },
  };
  const reader = createChangeReader({
    api,
    clock,
    pause: async ms => {
      world.pauses.push(ms);
    },
  });
  return Object.assign(world, {
    reader,
    clock,
    steps,
    call: (over: Partial<GerritCall> = {}): GerritCall => ({
      project: 'acme/app',
      signal: new AbortController().signal,
      steps: step => steps.push(step),
      ...over,
    }),
  });
}

function answerOf({ changes, index }: World, path: string): GerritAnswer<Json> {
  const detail = /^changes\/(\d+)\/detail/.exec(path)?.[1];
  if (detail !== undefined) {
    const change = changes.get(Number(detail));
    if (change === undefined) return { kind: 'refused', status: 404, text: `Not found: ${detail}` };
    return { kind: 'ok', status: 200, data: json(Number(detail), change) };
  }
  const numbers = [...path.matchAll(/change:(\d+)/g)].map(([, number]) => Number(number));
  const byCommit = [...path.matchAll(/commit:(\w+)/g)].map(([, commit]) => commit ?? '');
  for (const [number, { patchset }] of changes)
    if (
      byCommit.some(
        commit =>
          commit.slice(0, 36) === commitOf(number, 1).slice(0, 36) && Number(commit.slice(36)) <= patchset,
      )
    )
      numbers.push(number);
  const data = numbers.flatMap(number => {
    const shown = index.has(number) ? index.get(number) : changes.get(number);
    return shown == null ? [] : [json(number, { ...changes.get(number), ...shown })];
  });
  return { kind: 'ok', status: 200, data };
}

const wanted = (number: number, at = START, patchset: number | null = null) => ({
  number,
  notBefore: fromMilliseconds(at),
  patchset,
});

describe('a change is read', () => {
  test('by detail, and the reading serves all callers that it is new enough for', async () => {
    const world = openWorld();
    const read = await world.reader.read(wanted(1), world.call());
    expect(read).toMatchObject({
      kind: 'ok',
      data: { readAt: fromMilliseconds(START), info: { number: 1 } },
    });
    world.now += 1_000;
    await world.reader.read(wanted(1, START), world.call());
    await world.reader.read(wanted(1, START, 1), world.call());
    expect(world.asked).toEqual(['changes/1/detail']);
    expect(await world.reader.read(wanted(1, START + 500), world.call())).toMatchObject({
      data: { readAt: fromMilliseconds(START + 1_000) },
    });
    world.changes.set(1, { patchset: 2, updated: START + 1_000 });
    expect(await world.reader.read(wanted(1, START, 2), world.call())).toMatchObject({
      data: { info: { revision: { number: 2 } } },
    });
    expect(world.asked).toEqual(Array(3).fill('changes/1/detail'));
  });

  test('once for all who ask before the request is sent, and again where it has to be newer', async () => {
    const world = openWorld();
    const first = [1, 2, 3].map(() => world.reader.read(wanted(7), world.call()));
    await new Promise(setImmediate);
    const joined = world.reader.read(wanted(7, START), world.call());
    const newer = world.reader.read(wanted(7, START + 1), world.call());
    await Promise.all([...first, joined, newer]);
    expect(world.asked).toEqual(['changes/7/detail', 'changes/7/detail']);
  });

  test('to be not there: null, which is not kept', async () => {
    const world = openWorld();
    for (let round = 0; round < 2; round += 1)
      expect(await world.reader.read(wanted(99), world.call())).toEqual({
        kind: 'ok',
        status: 404,
        data: null,
      });
    expect(world.asked).toHaveLength(2);
  });

  test('again, with pauses that are steps, until its patch set is the wanted one', async () => {
    const world = openWorld();
    world.answer = () => {
      if (world.asked.length === 3) world.changes.set(1, { patchset: 2, updated: START });
      return undefined;
    };
    expect(await world.reader.read(wanted(1, START, 2), world.call())).toMatchObject({ kind: 'ok' });
    expect(world.pauses).toEqual([250, 500]);
    expect(world.steps.map(({ kind, subject }) => [kind, subject])).toEqual([
      ['HostWait', 'stale'],
      ['HostWait', 'stale'],
    ]);
    expect(await world.reader.read(wanted(1, START, 3), world.call())).toEqual({
      kind: 'later',
      later: { reason: 'other', text: 'Gerrit does not show patch set 3 of change 1 yet' },
    });
    expect(world.pauses).toEqual([250, 500, 250, 500, 1_000]);
  });

  test('without a verdict while Gerrit does not serve, and what it answers is no change', async () => {
    const world = openWorld();
    const later = { kind: 'later', later: { reason: 'unreachable', text: 'away' } } as const;
    world.answer = () => later;
    expect(await world.reader.read(wanted(1), world.call())).toEqual(later);
    world.answer = () => ({ kind: 'ok', status: 200, data: ['x'] });
    expect(await world.reader.read(wanted(1), world.call())).toMatchObject({ kind: 'later' });
    world.answer = () => ({ kind: 'ok', status: 200, data: { _number: 1 } });
    expect(await world.reader.read(wanted(1), world.call())).toMatchObject({ kind: 'refused' });
  });

  test('for the others when one of them leaves, and not at all when all leave', async () => {
    const world = openWorld();
    const [one, two] = [new AbortController(), new AbortController()];
    const left = world.reader.read(wanted(1), world.call({ signal: one.signal }));
    const stays = world.reader.read(wanted(1), world.call());
    one.abort(new Error('left'));
    await expect(left).rejects.toThrow('left');
    expect(await stays).toMatchObject({ kind: 'ok' });
    const alone = world.reader.read(wanted(2), world.call({ signal: two.signal }));
    two.abort(new Error('left too'));
    await expect(alone).rejects.toThrow('left too');
    await new Promise(setImmediate);
    expect(world.asked).toEqual(['changes/1/detail']);
    expect(await world.reader.read(wanted(2), world.call())).toMatchObject({ kind: 'ok' });
  });
});

describe('a burst of changes', () => {
  const burst = (world: ReturnType<typeof openWorld>, count: number, patchset: number | null = null) =>
    Promise.all(
      Array.from({ length: count }, (_, index) =>
        world.reader.read(wanted(index + 1, START, patchset), world.call()),
      ),
    );

  test('of four is read one by one, of more with queries of 25', async () => {
    const few = openWorld();
    await burst(few, 4);
    expect(few.asked).toEqual([1, 2, 3, 4].map(number => `changes/${number}/detail`));
    const world = openWorld();
    const answers = await burst(world, 60);
    expect(answers.map(answer => answer.kind === 'ok' && answer.data?.info.number)).toEqual(
      answers.map((_, index) => index + 1),
    );
    expect(world.asked).toHaveLength(3);
    expect(world.asked[2]).toMatch(/^changes\/\?q=change:51\+OR\+.*\+OR\+change:60$/);
    await burst(world, 60);
    expect(world.asked).toHaveLength(3);
  });

  test('of which the index lacks one, or is behind with one, has those read by detail', async () => {
    const world = openWorld();
    await world.reader.read(wanted(3), world.call());
    world.now += 1_000;
    world.index.set(1, null);
    world.index.set(2, { patchset: 1, updated: START });
    world.changes.set(2, { patchset: 2, updated: START });
    world.index.set(3, { patchset: 1, updated: START - 5_000 });
    const answers = await Promise.all(
      [1, 2, 3, 4, 5].map(number =>
        world.reader.read(wanted(number, world.now, number === 2 ? 2 : null), world.call()),
      ),
    );
    expect(answers.every(({ kind }) => kind === 'ok')).toBe(true);
    expect(world.asked.slice(2).sort()).toEqual(['changes/1/detail', 'changes/2/detail', 'changes/3/detail']);
  });

  test('that an event just named is not believed to be unchanged for long', async () => {
    const world = openWorld();
    for (const change of world.changes.values()) change.updated = START - 3_600_000;
    await burst(world, 5, 1);
    expect(world.asked).toHaveLength(6);
  });

  test('whose query is refused is read one by one; Gerrit away concerns all', async () => {
    const world = openWorld();
    world.answer = path =>
      path.includes('?q=') ? { kind: 'refused', status: 400, text: 'too complex' } : undefined;
    expect((await burst(world, 6)).every(({ kind }) => kind === 'ok')).toBe(true);
    expect(world.asked).toHaveLength(7);
    const large = openWorld();
    large.answer = path =>
      path.includes('?q=') || path.includes('/3/')
        ? { kind: 'refused', status: 413, text: 'more than 16 MB' }
        : undefined;
    const kinds = (await burst(large, 6)).map(({ kind }) => kind);
    expect(kinds.filter(kind => kind === 'ok')).toHaveLength(5);
    const away = openWorld();
    away.answer = () => ({ kind: 'later', later: { reason: 'timeout', text: 'slow' } });
    expect((await burst(away, 6)).every(({ kind }) => kind === 'later')).toBe(true);
    expect(away.asked).toHaveLength(1);
  });
});

test('what a listing showed needs no request, and never replaces a later state', async () => {
  const world = openWorld();
  const info = (number: number, patchset: number, updated: number) => {
    const read = readChangeInfo(json(number, { patchset, updated }));
    if (read === undefined) throw new Error('not readable');
    return read;
  };
  world.changes.set(2, { patchset: 2, updated: START + 1_000 });
  await world.reader.read(wanted(2), world.call());
  world.now += 60_000;
  world.reader.listed([info(1, 1, START), info(2, 1, START)], world.clock.now());
  expect(await world.reader.read(wanted(1, world.now), world.call())).toMatchObject({ kind: 'ok' });
  expect(world.asked).toEqual(['changes/2/detail']);
  expect(await world.reader.read(wanted(2, START), world.call())).toMatchObject({
    data: { info: { revision: { number: 2 } } },
  });
});

describe('commits are found as patch sets', () => {
  test('with queries of 20; merged ones and those of no change are not asked for again', async () => {
    const world = openWorld();
    world.changes.set(1, { patchset: 3, updated: START });
    world.changes.set(2, { patchset: 1, updated: START, status: 'MERGED' });
    const none = 'f'.repeat(40);
    const commits = [commitOf(1, 2), commitOf(2, 1), none, 'HEAD'];
    const place = { project: 'acme/app', branch: 'main' };
    const expected = new Map([
      [commitOf(2, 1), { number: 2, patchset: 1, currentPatchset: 1, status: 'MERGED', ...place }],
      [commitOf(1, 2), { number: 1, patchset: 2, currentPatchset: 3, status: 'NEW', ...place }],
    ]);
    expect(await world.reader.patchsetsOf(commits, world.call())).toEqual({
      kind: 'ok',
      status: 200,
      data: expected,
    });
    world.changes.set(1, { patchset: 4, updated: START });
    const again = await world.reader.patchsetsOf(commits, world.call());
    expect(again.kind === 'ok' && again.data.get(commitOf(1, 2))?.currentPatchset).toBe(4);
    expect(world.asked).toEqual([
      `changes/?q=commit:${commitOf(1, 2)}+OR+commit:${commitOf(2, 1)}+OR+commit:${none}`,
      `changes/?q=commit:${commitOf(1, 2)}`,
    ]);
    world.now += 61_000;
    await world.reader.patchsetsOf([none], world.call());
    expect(world.asked).toHaveLength(3);
    const many = Array.from({ length: 45 }, (_, index) => commitOf(index + 3, 1));
    const found = await world.reader.patchsetsOf(many, world.call());
    expect([found.kind === 'ok' && found.data.size, world.asked.length]).toEqual([45, 6]);
  });

  test('or it comes later when Gerrit is away or says something else', async () => {
    const world = openWorld();
    world.answer = () => ({ kind: 'ok', status: 200, data: {} });
    expect(await world.reader.patchsetsOf([commitOf(1, 1)], world.call())).toMatchObject({ kind: 'later' });
    expect(await world.reader.patchsetsOf([], world.call())).toEqual({
      kind: 'ok',
      status: 200,
      data: new Map(),
    });
  });
});
