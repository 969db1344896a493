/** An operator acts: what enters by hand, with the name of who asked. */
import { expect } from 'vitest';
import type { DelaysAnswer } from '../../src/api/delays.ts';
import { layoutWith } from './layouts.ts';
import { story } from './story.ts';

const PROJECT = `
- job: {name: unit}
- project:
    name: org/project
    gate: {jobs: [unit]}
    check: {jobs: [unit]}
`;
const TWO_JOBS = `
- job: {name: unit}
- job: {name: lint}
- project:
    name: org/project
    gate: {jobs: [unit, lint]}
`;
const TENANT = '/api/tenant/tenant-one';
const ENQUEUE = `${TENANT}/project/org/project/enqueue`;

story(
  'a change enters by hand without an approval, and a branch without a push',
  {
    layout: layoutWith(PROJECT, { checkout: false, notes: false, check: true }),
  },
  async world => {
    await world.propose('A');
    world.free();
    await expect(
      world.operator.post(ENQUEUE, { pipeline: 'gate', change: 'master/nothing' }),
    ).rejects.toThrow(/has no change "master\/nothing"/);
    await world.operator.post(ENQUEUE, { pipeline: 'gate', change: 'master/A' });
    const a = await world.leaves('A', 'SUCCESS');
    await world.decided('A', 'enqueued', 'enqueued by hand by command line');
    await world.operator.post(ENQUEUE, { pipeline: 'check', ref: 'refs/heads/master' });
    await world.observer.until('the branch to leave check', () =>
      world.observer.left(
        ({ pipeline, changes }) =>
          pipeline === 'check' && changes.some(({ name }) => name === 'refs/heads/master'),
      ),
    );
    const named = () => world.sink.spans.filter(({ name }) => name === 'ManagementEvent enqueue');
    await world.observer.until('the traces of all', () => named().length > 2);
    // Pipelines send their traces side by side.
    const attributes = named().map(span => span.attributes);
    for (const wanted of [
      { 'gatehouse.event.outcome': 'refused', 'gatehouse.reason': 'no-such-change' },
      { 'gatehouse.item.id': a.uuid, 'gatehouse.event.outcome': 'enqueued', 'gatehouse.by': 'command line' },
      { 'gatehouse.pipeline': 'check', 'gatehouse.event.outcome': 'enqueued' },
    ])
      expect(attributes).toContainEqual(expect.objectContaining(wanted));
  },
);

story(
  'what an act costs is known before, and asking does nothing',
  { layout: layoutWith(PROJECT, { checkout: false, notes: false, check: true }) },
  async world => {
    for (const topic of ['A', 'B', 'C']) await world.propose(topic);
    for (const topic of ['A', 'B', 'C']) await world.approve(topic);
    await world.observer.until('three tests', () => world.item('C')?.state.name === 'running');
    const effects = async (path: string, body: object) => {
      const { items } = await world.operator.post<{
        readonly items: readonly { readonly change: string; readonly effect: string }[];
      }>(`${TENANT}/${path}/dry-run`, body);
      return items.map(({ change, effect }) => `${/master\/\w/.exec(change)?.[0]} ${effect}`);
    };
    const dequeue = { pipeline: 'gate', change: 'master/B' };
    expect(await effects('project/org/project/dequeue', dequeue)).toEqual([
      'master/B left',
      'master/C reset',
    ]);
    expect(await effects('promote', { pipeline: 'gate', changes: ['master/C'] })).toEqual([
      'master/A reset',
      'master/B reset',
      'master/C reset',
    ]);
    expect(await effects('project/org/project/enqueue', { pipeline: 'check', change: 'master/A' })).toEqual(
      [],
    );
    expect(await effects('project/org/project/enqueue', { pipeline: 'gate', change: 'master/gone' })).toEqual(
      [],
    );
    expect(await effects('pipeline/gate/state', { state: 'paused', reason: 'disks' })).toEqual([]);
    expect(world.queued()).toEqual(['A', 'B', 'C']);
    await world.operator.post(`${TENANT}/project/org/project/dequeue`, dequeue);
    world.free();
    await world.leaves('B', 'DEQUEUED');
    const c = await world.leaves('C', 'SUCCESS');
    expect(c.resets).toBe(1);
  },
);

story(
  'failed jobs of an item run again, and those that passed do not',
  {
    layout: layoutWith(TWO_JOBS, { checkout: false, notes: false }),
  },
  async world => {
    world.fail('unit', 'B');
    for (const topic of ['A', 'B', 'C']) await world.propose(topic);
    for (const topic of ['A', 'B', 'C']) await world.approve(topic);
    const A = ['unit: A', 'lint: A'];
    await world.runs(...A, 'unit: A B', 'lint: A B', 'unit: A B C', 'lint: A B C');
    world.release(/: A B$/);
    await world.runs(...A, 'unit: A C', 'lint: A C');
    await world.observer.until('B waits for A', () => world.item('B')?.state.name === 'change-ahead');
    world.pass('unit', 'B');
    await world.operator.post(`${TENANT}/item/${world.item('B')?.uuid}/rerun`, {});
    await world.runs(...A, 'unit: A B', 'unit: A B C', 'lint: A B C');
    world.free();
    await world.leaves('A', 'SUCCESS');
    const b = await world.leaves('B', 'SUCCESS');
    const c = await world.leaves('C', 'SUCCESS');
    const ofC = () =>
      world.sink.spans.filter(
        ({ name, attributes }) => name.startsWith('BuildSet') && attributes['gatehouse.item.id'] === c.uuid,
      );
    await world.observer.until('the buildsets of C', () => ofC().length > 2);
    expect(ofC().map(({ attributes }) => attributes['gatehouse.superseded.code'])).toContain('rerun');
    await world.decided('B', 'rerun', 'command line asked to run its failed jobs again: unit');
    const named = () => world.sink.spans.filter(({ name }) => name === 'ManagementEvent rerun');
    await world.observer.until('the trace', () => named().length > 0);
    expect(named()[0]?.attributes).toMatchObject({
      'gatehouse.event.outcome': 'rerun',
      'gatehouse.item.id': b.uuid,
      'gatehouse.by': 'command line',
    });
    const delays = await world.api.get<Pick<DelaysAnswer, 'flaky' | 'resets'>>(
      `${TENANT}/pipeline/gate/delays?since=1h`,
    );
    expect(delays.flaky).toMatchObject([{ job: 'unit', builds: 1, items: 1, item: b.uuid }]);
    const [first, ...atOnce] = delays.resets.list;
    expect(first).toMatchObject({
      code: 'item-ahead-failed',
      item: c.uuid,
      culprit: { item: b.uuid, job: 'unit' },
    });
    // Both at the same moment.
    expect(
      atOnce.toSorted((one, other) => Number(one.item === c.uuid) - Number(other.item === c.uuid)),
    ).toMatchObject([
      { code: 'rerun', item: b.uuid, culprit: null },
      { code: 'rerun', item: c.uuid, culprit: { item: b.uuid } },
    ]);
    const builds = await world.api.get<readonly { job_name: string; error_detail: string | null }[]>(
      `${TENANT}/builds?change=master/B&result=SUCCESS`,
    );
    expect(
      builds.find(({ job_name, error_detail }) => job_name === 'lint' && error_detail !== null),
    ).toMatchObject({
      error_detail: expect.stringMatching(/^passed in build [0-9a-f]{32}, which tested the same state$/),
    });
  },
);

story(
  'a paused pipeline starts no build, a drained one lets nothing in, and both go on',
  {
    layout: layoutWith(TWO_JOBS.replace('[unit, lint]', '[unit]'), { checkout: false, notes: false }),
  },
  async world => {
    const state = (body: object) => world.operator.post(`${TENANT}/pipeline/gate/state`, body);
    const halts = async () =>
      (
        await world.api.get<{ pipelines: { gatehouse: { halts: object[] } }[] }>(`${TENANT}/status`)
      ).pipelines.flatMap(({ gatehouse }) => gatehouse.halts);
    await expect(state({ state: 'paused' })).rejects.toThrow(/the reason/);
    // An empty pipeline keeps it, too, and forgets it.
    await state({ state: 'draining', reason: 'nothing yet' });
    await world.observer.until('the drain', async () => ((await halts()).length > 0 ? true : undefined));
    await state({ state: 'normal' });
    await world.observer.until('its end', async () => ((await halts()).length === 0 ? true : undefined));
    await state({ state: 'paused', reason: 'the cluster moves' });
    await world.propose('A');
    await world.approve('A');
    await world.observer.until('A is paused', () => world.item('A')?.state.name === 'paused');
    expect(world.item('A')?.state.subject).toBe('the cluster moves (command line)');
    expect(await halts()).toMatchObject([
      { queue: null, mode: 'pause', reason: 'the cluster moves', by: 'command line' },
    ]);
    await state({ state: 'draining', reason: 'release at noon' });
    await world.runs('unit: A');
    await world.propose('B');
    await world.approve('B');
    await world.decided(
      'B',
      'drained',
      'it waits until gate takes changes again: release at noon (command line)',
    );
    expect(world.queued()).toEqual(['A']);
    await world.restart('org/project', 'org/project1', 'org/project2');
    await world.observer.until('A runs again', () => world.item('A')?.state.name === 'running');
    expect(world.queued()).toEqual(['A']);
    await state({ state: 'normal' });
    await world.runs('unit: A', 'unit: A B');
    expect(await halts()).toEqual([]);
    world.free();
    await world.leaves('A', 'SUCCESS');
    await world.leaves('B', 'SUCCESS');
    const named = (command: string) =>
      world.sink.spans.filter(({ name }) => name === `ManagementEvent ${command}`);
    await world.observer.until('the traces', () =>
      ['pause', 'drain', 'resume'].every(each => named(each).length > (each === 'pause' ? 0 : 1)),
    );
    expect(named('drain').at(-1)?.attributes).toMatchObject({
      'gatehouse.by': 'command line',
      'gatehouse.event.outcome': 'halted',
      'gatehouse.detail': 'release at noon',
    });
  },
);
