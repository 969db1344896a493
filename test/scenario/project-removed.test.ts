import { expect } from 'vitest';
import { NOTED } from '../fake/layout-text.ts';
import { layoutWith } from './layouts.ts';
import { story } from './story.ts';
import type { World } from './world.ts';

const stanzas = (...pipelines: readonly string[]) =>
  ['org/project1', 'org/project2']
    .map(
      name => `
- project:
    name: ${name}
    queue: integrated
${pipelines.map(pipeline => `    ${pipeline}: {jobs: [unit]}\n`).join('')}`,
    )
    .join('');

story(
  'a project that is taken out of the tenant takes its changes along: nothing of them lands',
  {
    layout: layoutWith(
      `\n- queue:\n    name: integrated\n- job:\n    name: unit\n${stanzas('check', 'gate')}`,
      {
        check: true,
        gate: { notes: NOTED },
      },
    ),
    expectedTrouble: [/project "org\/project1" is not in tenant/],
  },
  async world => {
    await world.propose('A', { project: 'org/project1' });
    await world.propose('B', { project: 'org/project2' });
    await world.approve('A');
    await world.approve('B');
    await world.runs('unit: A', 'unit: B', 'unit: A', 'unit: A B');
    await world.restart('org/project', 'org/project2');
    await world.runs('unit: B', 'unit: B');
    await leftBecauseRemoved(world, 2);
    world.free();
    await world.leaves('B', 'SUCCESS');
    expect(await world.landed('org/project1')).toEqual([]);
    expect(await world.landed('org/project2')).toEqual(['B']);
    expect(await world.notes('A')).toEqual([expect.stringContaining('Starting gate jobs.')]);
  },
);

const GATE_ALONE = layoutWith(
  `\n- queue:\n    name: integrated\n- job:\n    name: unit\n${stanzas('gate')}`,
  {
    gate: { notes: NOTED },
  },
);
const TROUBLE = [
  /project "org\/project1" is not in tenant/,
  /could not (report|land)/,
  /waits for the code host/,
  /could not be processed; trying again/,
  /cannot poll a project; trying again/,
];

const MOMENTS = [
  { state: 'reporting', what: 'is being landed', ailment: { kind: 'hang' } },
  { state: 'host', what: 'waits for a host that refuses it', ailment: { kind: 'status', status: 403 } },
] as const;

for (const { state, what, ailment } of MOMENTS)
  story(
    `a change that ${what} when its project is taken out of the tenant does not land after the restart`,
    {
      layout: GATE_ALONE,
      overHttp: true,
      // Stopping does not wait for a host that does not answer.
      expectedTrouble: [...TROUBLE, /some of its loops did not within/],
    },
    async world => {
      await world.propose('A', { project: 'org/project1' });
      await world.propose('B', { project: 'org/project2' });
      await world.approve('A');
      await world.approve('B');
      await world.runs('unit: A', 'unit: A B');
      await started(world, 'A', 'B');
      ill(world).ail(({ service }) => (service === 'git-receive-pack' ? ailment : undefined));
      world.free();
      await world.observer.until(`A to be in state ${state}`, () => world.item('A')?.state.name === state);
      await world.restart('org/project', 'org/project2');
      ill(world).heal();
      await leftBecauseRemoved(world, 1);
      await world.leaves('B', 'SUCCESS');
      expect(await world.landed('org/project1')).toEqual([]);
      expect(await world.landed('org/project2')).toEqual(['B']);
    },
  );

story(
  'a change that landed before its project was taken out of the tenant is recorded as landed, although the reply was lost',
  { layout: GATE_ALONE, overHttp: true, expectedTrouble: TROUBLE },
  async world => {
    await world.propose('A', { project: 'org/project1' });
    await world.approve('A');
    await world.runs('unit: A');
    await started(world, 'A');
    let landed = false;
    ill(world).ail(({ service, step, project }) => {
      if (project !== 'org/project1') return undefined;
      if (landed) return { kind: 'status', status: 503 };
      landed = service === 'git-receive-pack' && step === 'exchange';
      return landed ? { kind: 'lose-reply' } : undefined;
    });
    world.free();
    await world.observer.until('the landing to wait', () => world.item('A')?.state.name === 'host');
    await world.restart('org/project', 'org/project2');
    const tries = world.item('A')?.hostWait?.tries ?? 0;
    await world.observer.until(
      'the host to be asked again',
      () => (world.item('A')?.hostWait?.tries ?? 0) > tries + 1,
    );
    ill(world).heal();
    await world.leaves('A', 'SUCCESS');
    expect(await world.landed('org/project1')).toEqual(['A']);
  },
);

/** The start is noted: nothing but the landing is pushed from now on. */
async function started(world: World, ...topics: readonly string[]): Promise<void> {
  for (const topic of topics) await world.notes(topic, 1);
}

function ill(world: World) {
  if (world.host === undefined) expect.unreachable('the story is not over HTTP');
  return world.host;
}

/** Waits until so many items of org/project1 have left. */
async function leftBecauseRemoved(world: World, count: number): Promise<void> {
  const left = await world.observer.until('A to be in the history', async () => {
    const own = (await world.observer.finished()).filter(item =>
      item.changes.some(change => change.project === 'org/project1'),
    );
    return own.length === count ? own : undefined;
  });
  expect(left.map(item => [item.result, item.reason])).toEqual(
    left.map(() => ['DEQUEUED', 'project-removed']),
  );
}
