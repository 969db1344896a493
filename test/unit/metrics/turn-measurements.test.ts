import { describe, expect, it } from 'vitest';
import type { MeasuredTurn } from '../../../src/metrics/turn-measurements.ts';
import { turnMeasurements } from '../../../src/metrics/turn-measurements.ts';
import { EMPTY_PIPELINE, type PipelineState } from '../../../src/model/pipeline-state.ts';
import type { QueueItem } from '../../../src/model/queue-item.ts';
import { resetAndMergedStory } from '../../fake/item-stories.ts';
import { itemStory } from '../../fake/queue-item.ts';

function stateOf(items: readonly QueueItem[], queue = 'integrated', window = 20): PipelineState {
  return {
    ...EMPTY_PIPELINE,
    queues: [{ key: `queue ${queue}`, name: queue, window, items: items.map(({ uuid }) => uuid) }],
    items: new Map(items.map(item => [item.uuid, item])),
  };
}

/** What the turn changed, as its commit has it. */
function changedIn({ before = EMPTY_PIPELINE, after = EMPTY_PIPELINE }: Partial<MeasuredTurn>) {
  return [...after.items.values()].filter(item => before.items.get(item.uuid) !== item);
}

function measured(turn: Partial<MeasuredTurn>): ReadonlyMap<string, number> {
  const all = turnMeasurements({
    tenant: 'acme',
    pipeline: 'gate',
    before: EMPTY_PIPELINE,
    after: EMPTY_PIPELINE,
    changed: changedIn(turn),
    isFirst: true,
    left: [],
    traced: true,
    seconds: 0.02,
    operations: 7,
    ...turn,
  });
  return new Map(
    all.map(({ metric, labels: { tenant, pipeline, ...own }, value }) => [
      [metric, ...Object.values(own)].join(' '),
      value,
    ]),
  );
}

describe('measurements of a turn', () => {
  const waiting = itemStory({ seed: 'waiting' }).item;
  const running = itemStory({ seed: 'running' }).merge().merged().freeze(['unit']).start('unit').item;
  const reporting = itemStory({ seed: 'reporting' }).enter('reporting').item;

  it('say how long it took, how much it wrote, and what the pipeline holds now', () => {
    const now = measured({ after: stateOf([waiting, running, reporting]) });
    expect(now.get('gatehouse_turn_seconds')).toBe(0.02);
    expect(now.get('gatehouse_turn_operations')).toBe(7);
    expect(now.get('gatehouse_queue_length integrated')).toBe(3);
    expect(now.get('gatehouse_queue_window integrated')).toBe(20);
    expect(now.get('cicd_pipeline_run_active pending')).toBe(1);
    expect(now.get('cicd_pipeline_run_active executing')).toBe(1);
    expect(now.get('cicd_pipeline_run_active finalizing')).toBe(1);
  });

  it('count who waits for a code host, those behind the one that met the trouble among them, until it is over', () => {
    const text = 'The requested URL returned error: 403';
    const wait = {
      project: waiting.changes[0].project,
      reason: 'limited',
      text,
      doing: 'merge',
      tries: 3,
    } as const;
    const times = { since: waiting.enqueuedAt, retryAt: waiting.enqueuedAt };
    const asking = {
      ...itemStory({ seed: 'asking' }).enter('host', 'local').item,
      hostWait: { ...wait, ...times },
    };
    const behind = itemStory({ seed: 'behind' }).enter('host', 'local').item;
    const ill = stateOf([asking, behind, running]);
    expect(measured({ after: ill }).get('gatehouse_host_waiting_items local limited')).toBe(2);
    const well = measured({ before: ill, after: stateOf([running]) });
    expect(well.get('gatehouse_host_waiting_items local limited')).toBe(0);
  });

  it('count who holds a semaphore and who waits for it, until it is over', () => {
    const hold = { name: 'db', scope: 'tenant', slot: 0 } as const;
    const build = { job: 'unit', attempt: 1, voting: true, requestedAt: waiting.enqueuedAt } as const;
    const held = {
      ...running,
      buildset: {
        ...running.buildset,
        builds: [
          { ...build, uuid: running.uuid, semaphores: [hold], state: { state: 'requested' } as const },
        ],
      },
    };
    const wait = {
      uuid: waiting.uuid,
      job: 'unit',
      since: waiting.enqueuedAt,
      semaphores: ['db'],
      heldBy: [],
    };
    const refused = {
      ...waiting,
      buildset: { ...waiting.buildset, semaphoreWaits: [{ ...wait, ended: null }] },
    };
    const both = stateOf([held, refused]);
    const now = measured({ after: both });
    expect(now.get('gatehouse_semaphore_holders db')).toBe(1);
    expect(now.get('gatehouse_semaphore_waiting_jobs db')).toBe(1);
    const later = measured({ before: both, after: stateOf([]) });
    expect(later.get('gatehouse_semaphore_holders db')).toBe(0);
    expect(later.get('gatehouse_semaphore_waiting_jobs db')).toBe(0);
  });

  it('say of a queue that is gone that it is empty', () => {
    const now = measured({ before: stateOf([waiting]), after: EMPTY_PIPELINE });
    expect(now.get('gatehouse_queue_length integrated')).toBe(0);
  });

  it('add up queues of one name, and leave out of the runs who only holds a place', () => {
    const [a, b] = [stateOf([waiting], 'app'), stateOf([{ ...running, role: 'dependency' }], 'app')];
    const after = {
      ...EMPTY_PIPELINE,
      queues: [...a.queues, ...b.queues.map(queue => ({ ...queue, key: 'project other/app' }))],
      items: new Map([...a.items, ...b.items]),
    };
    const now = measured({ after });
    expect(now.get('gatehouse_queue_length app')).toBe(2);
    expect(now.get('cicd_pipeline_run_active executing')).toBe(0);
  });

  it('look only at items that are different, and at those that left', () => {
    const story = resetAndMergedStory();
    const before = stateOf([waiting, story.versions.at(-2)!]);
    const after = stateOf([waiting]);
    const now = measured({ before, after, left: [story.item] });
    expect([...now.keys()].filter(key => key.startsWith('gatehouse_item'))).toEqual([
      'gatehouse_item_duration_seconds SUCCESS',
    ]);
    expect([...now.keys()].filter(key => key.startsWith('gatehouse_event'))).toEqual([]);
    expect(now.get('gatehouse_wait_seconds change-ahead')).toBe(48);
  });

  it('set only the gauges that may have changed, but for the first turn', () => {
    const before = stateOf([waiting, running]);
    const gauges = (turn: Partial<MeasuredTurn>) =>
      [...measured({ before, ...turn }).keys()].filter(key => /queue|active/.test(key));
    expect(gauges({ after: before, isFirst: false })).toEqual([]);
    expect(gauges({ after: before }).length).toBeGreaterThan(2);
    const after = { ...stateOf([waiting, { ...running }]), queues: before.queues };
    const set = gauges({ after, isFirst: false });
    expect(set).toContain('cicd_pipeline_run_active executing');
    expect(set.filter(key => key.includes('queue'))).toEqual([]);
    expect(gauges({ after: stateOf([waiting]), left: [running], isFirst: false })).toContain(
      'gatehouse_queue_length integrated',
    );
  });

  it('lead nowhere while tracing is off', () => {
    const turn = {
      tenant: 'acme',
      pipeline: 'gate',
      before: EMPTY_PIPELINE,
      after: EMPTY_PIPELINE,
      changed: [],
      isFirst: false,
      seconds: 1,
      operations: 1,
    };
    const left = [resetAndMergedStory().item];
    const traced = (on: boolean) =>
      turnMeasurements({ ...turn, left, traced: on }).filter(({ trace }) => trace !== undefined).length;
    expect(traced(true)).toBeGreaterThan(3);
    expect(traced(false)).toBe(0);
  });
});
