/** What people are informed of: by turns, and by time alone. */
import { describe, expect, onTestFinished, test } from 'vitest';
import type { Forecast } from '../../../../src/forecast/forecast.ts';
import { finishedWork, recentWork } from '../../../../src/forecast/recent-work.ts';
import { toMilliseconds } from '../../../../src/lib/clock.ts';
import { reportIntentCodec } from '../../../../src/model/codec/records.ts';
import type { NoticeEvent } from '../../../../src/model/notice.ts';
import { EMPTY_PIPELINE, type PipelineState } from '../../../../src/model/pipeline-state.ts';
import type { QueueItem } from '../../../../src/model/queue-item.ts';
import { lookAtForecasts, lookAtHeads } from '../../../../src/scheduler/notices/look-at-queues.ts';
import { createNoticeRules, type NoticeRule } from '../../../../src/scheduler/notices/notice-rules.ts';
import { createQueueWatch } from '../../../../src/scheduler/notices/queue-watch.ts';
import { turnNotices } from '../../../../src/scheduler/notices/turn-notices.ts';
import type { PipelineContext } from '../../../../src/scheduler/turn/pipeline-context.ts';
import { ensureNode } from '../../../../src/store/ensure-node.ts';
import { listOutbox, readOutbox } from '../../../../src/store/outbox.ts';
import { createQuarantine } from '../../../../src/store/quarantine.ts';
import { gatePipeline } from '../../../fake/pipeline.ts';
import { at, itemStory } from '../../../fake/queue-item.ts';
import { eventually, openStand } from '../stand.ts';

const MINUTE = 60_000;
const RULE: NoticeRule = {
  ...{ name: 'team', connection: 'chat', config: {}, tenants: [], pipelines: [], projects: [] },
  events: ['landed', 'failed', 'reset-twice', 'head-stuck', 'eta-slipped'],
  ...{ stuckAfterMs: 30 * MINUTE, slippedByMs: 30 * MINUTE, mostPerHour: 60 },
};
const NO_WORK = recentWork([]);

function stateOf(...items: readonly QueueItem[]): PipelineState {
  const queue = { key: 'integrated', name: 'integrated', window: 0, items: items.map(({ uuid }) => uuid) };
  return { ...EMPTY_PIPELINE, queues: [queue], items: new Map(items.map(item => [item.uuid, item])) };
}

const story = (seed: string) => itemStory({ seed }).merge().merged().freeze(['unit']);

describe('a turn', () => {
  const noticed = (left: QueueItem, landsHere = true) =>
    turnNotices(EMPTY_PIPELINE, { changed: [], left: [left] }, landsHere).map(
      ({ notice, headline }) => `${notice.event}: ${headline}`,
    );
  const passed = () => story('a').start('unit').wait(90_000).finish('unit', 'SUCCESS').complete('SUCCESS');

  test('gives notice of what landed, where changes land', () => {
    const { item } = passed().leave();
    expect(noticed(item)).toEqual(['landed: Landed after 1m 30s (gate).']);
    expect(noticed(item, false)).toEqual([]);
  });

  test.each([
    ['reported', 'FAILURE', ['failed: Failed (gate).']],
    ['reported', 'NO_JOBS', []],
    ['dequeued-by-hand', 'DEQUEUED', ['failed: Left gate without its result: dequeued by hand.']],
    ['cannot-land', 'DEQUEUED', ['failed: Left gate without its result: the code host would not land it.']],
    ['new-patchset', 'DEQUEUED', []],
    ['abandoned', 'DEQUEUED', []],
  ] as const)('of an item that left as %s with %s', (reason, result, expected) => {
    expect(noticed(story('b').leave(reason, result).item)).toEqual(expected);
  });

  test('of the second reset, once, and not of what a person asked for', () => {
    const resets = itemStory({ seed: 'c' }).reset().reset().reset();
    const [, first, second, third] = resets.versions;
    const of = (before: QueueItem, changed: QueueItem) =>
      turnNotices(stateOf(before), { changed: [changed], left: [] }, true).map(({ headline }) => headline);
    expect(of(resets.versions[0]!, first!)).toEqual([]);
    expect(of(first!, second!)).toEqual([
      'Tested again for the second time (gate): an item ahead failed: unit-tests of acme/app master/broken,deadbeef ended with FAILURE.',
    ]);
    expect(of(second!, third!)).toEqual([]);
    const asked = itemStory({ seed: 'd' }).reset().note('reset', { cause: 'rerun' });
    expect(of(asked.versions[1]!, { ...second!, events: asked.item.events })).toEqual([]);
  });
});

describe('time alone', () => {
  const look = (item: QueueItem, minutes: number, recent = NO_WORK, watched = new Map()) =>
    lookAtHeads(
      {
        state: stateOf(item, story('behind').item),
        manager: 'dependent',
        now: at(minutes * MINUTE),
        watched,
      },
      [RULE],
      recent,
    );

  test('makes a head stuck that waits for one thing for too long, once for each', () => {
    const { item } = story('a');
    const first = look(item, 0);
    expect(first.due).toEqual([]);
    expect([...first.watched.keys()]).toEqual([item.uuid]);
    expect(first.nextMs / MINUTE).toBeCloseTo(30);
    const second = look(item, 31, NO_WORK, new Map(first.watched));
    expect(second.due.map(({ about }) => [about.item.uuid, about.notice, about.headline])).toEqual([
      [
        item.uuid,
        { event: 'head-stuck', cause: 'executor' },
        'Holds up gate: it waits for an executor, for 31m 00s now.',
      ],
    ]);
    expect(look(item, 90, NO_WORK, new Map(second.watched)).due).toEqual([]);
    const host = story('a').enter('host', 'local').item;
    expect(
      look(host, 91, NO_WORK, new Map(second.watched)).due.map(({ about }) => about.notice.cause),
    ).toEqual(['host']);
  });

  test('a wait counts from when the item became the head', () => {
    const { item } = story('a');
    const seen = look(item, 100);
    expect(seen.due).toEqual([]);
    expect(seen.nextMs / MINUTE).toBeCloseTo(30);
  });

  test('a job that runs counts from when it has run longer than in 19 of 20 times', () => {
    const usual = recentWork([
      finishedWork(
        story('old')
          .start('unit')
          .wait(20 * MINUTE)
          .finish('unit', 'SUCCESS')
          .complete('SUCCESS')
          .leave().item,
      ),
    ]);
    const { item } = story('a').start('unit');
    expect(look(item, 49, usual).due).toEqual([]);
    expect(look(item, 51, usual).due.map(({ about }) => about.headline)).toEqual([
      'Holds up gate: its job unit has run for 51m 00s; 19 of 20 times it takes no more than 20m 00s.',
    ]);
    expect(look(item, 31, NO_WORK).due).toHaveLength(1);
  });

  test('a forecast slips by what it has moved since it was first made', () => {
    const { item } = story('a');
    const likely = (minutes: number, lands = 1): ReadonlyMap<typeof item.uuid, Forecast> => {
      const time = toMilliseconds(at(minutes * MINUTE));
      const range = { early: time, likely: time, late: time };
      return new Map([[item.uuid, { kind: 'known', place: 1, ...range, lands, undisturbed: 1 }]]);
    };
    const at20 = { state: stateOf(item), manager: 'dependent', now: at(20 * MINUTE) } as const;
    const first = lookAtForecasts({ ...at20, watched: new Map() }, [RULE], likely(60));
    expect(first.due).toEqual([]);
    // A forecast moves by half as much again as time, at most.
    expect(first.nextMs / MINUTE).toBeCloseTo(20);
    const unlikely = lookAtForecasts({ ...at20, watched: first.watched }, [RULE], likely(120, 0));
    expect(unlikely.due).toEqual([]);
    const second = lookAtForecasts({ ...at20, watched: first.watched }, [RULE], likely(100));
    expect(second.due.map(({ about }) => about.headline)).toEqual([
      'Expected in 1h 20m (gate), 40m 00s later than first forecast.',
    ]);
    expect(lookAtForecasts({ ...at20, watched: second.watched }, [RULE], likely(200)).due).toEqual([]);
  });
});

test('a rule has a bound of its own, and what is more is left out and counted', () => {
  const counted: string[] = [];
  const warned: string[] = [];
  const log = { warn: (_: object, text: string) => void warned.push(text) };
  let now = 0;
  const rules = createNoticeRules([{ ...RULE, mostPerHour: 2, pipelines: ['gate'] }], {
    clock: { monotonic: () => now },
    log: log as never,
    metrics: { record: all => void counted.push(...[...all].map(({ labels }) => String(labels.outcome))) },
  });
  expect(rules.of('acme', 'check')).toEqual([]);
  const [rule] = rules.of('acme', 'gate');
  const taken = () => rules.take(rule!, 'failed');
  expect([taken(), taken(), taken(), taken()]).toEqual([true, true, false, false]);
  now += 30 * MINUTE;
  expect(taken()).toBe(true);
  expect(counted).toEqual(['requested', 'requested', 'left-out', 'left-out', 'requested']);
  expect(warned).toEqual(['rule team asks for more than 2 notices an hour; some are left out']);
});

test('what was sent is sent once, also when another scheduler takes over', async () => {
  await using stand = openStand();
  const { paths, store, log } = stand;
  const outbox = paths.messageOutbox('acme', 'gate');
  const path = paths.pipeline('acme', 'gate').notices;
  await ensureNode(store, outbox);
  const { item } = story('a').start('unit');
  const state = stateOf(item);
  let looks = 0;
  const context = {
    ...stand,
    clock: { now: () => at(40 * MINUTE), monotonic: () => 0 },
    pipeline: gatePipeline(),
    tenant: { name: 'acme' },
    webRoot: 'http://gate.example',
    spans: () => undefined,
    nodes: { messageOutbox: outbox },
    notices: createNoticeRules([RULE], { clock: stand.clock, log }),
    forecasts: {
      recent: async () => NO_WORK,
      of: async () => {
        looks += 1;
        return new Map();
      },
      learn: () => {},
    },
  } as unknown as PipelineContext;
  const quarantine = createQuarantine({ store, path: paths.quarantine, clock: stand.clock, log });
  const fence = await stand.fence('gate');
  const hold = async () => {
    const stop = new AbortController();
    onTestFinished(() => stop.abort());
    const watch = createQueueWatch({
      tenant: 'acme',
      pipeline: 'gate',
      path,
      quarantine,
      context: () => context,
    });
    watch.observe(state);
    const before = looks;
    const ended = watch.run(fence, stop.signal);
    await eventually(() => looks > before, 'the queues to be read');
    await eventually(async () => ((await store.get(path))?.data.byteLength ?? 0) > 0, 'the record');
    stop.abort();
    await ended;
    return readOutbox(store, await listOutbox(store, outbox));
  };
  const [sent, ...more] = await hold();
  expect(more).toEqual([]);
  const intent = reportIntentCodec.decode(sent!.data);
  expect(intent).toMatchObject({
    answered: true,
    message: 'Holds up gate: its job unit has run for 40m 00s.\nhttp://gate.example/t/acme/item/'.concat(
      item.uuid,
    ),
    details: { notice: { event: 'head-stuck' satisfies NoticeEvent, cause: 'job unit' } },
    parts: [{ connection: 'chat', merges: false }],
  });
  expect(await hold()).toHaveLength(1);
});
