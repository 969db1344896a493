/** Changes of one topic are one item, where their queue or their host has it so. */
import { expect } from 'vitest';
import { contractOf } from './contract-host-stories.ts';
import { type ClassicOptions, classicLayout } from './layouts.ts';
import { story } from './story.ts';
import type { World } from './world.ts';

function layout(options: ClassicOptions): string {
  return classicLayout({ checkout: false, notes: false, holdFollowing: false, ...options }).replaceAll(
    'merge: true',
    'merge: merge',
  );
}

async function proposeBoth(world: World, topic = 'login'): Promise<void> {
  await world.propose('A', { project: 'org/project1' });
  await world.propose('B', { project: 'org/project2' });
  await contractOf(world).setTopic('org/project1', 'master/A', topic);
  await contractOf(world).setTopic('org/project2', 'master/B', topic);
}

const merges = (world: World) => contractOf(world).calls.filter(call => call.startsWith('merge'));

story(
  'changes of a topic land together when the last one is approved, one after the other',
  { layout: layout({ byTopic: true }), contractHost: true },
  async world => {
    await proposeBoth(world);
    await world.approve('A');
    expect((await world.decided('A', 'dependency-not-ready')).text).toContain('master/B');
    await world.approve('B');
    await world.runs('project-merge: A B', 'project-merge: A B');
    world.free();
    const item = await world.leaves('A', 'SUCCESS');
    expect((await world.leaves('B', 'SUCCESS')).uuid).toBe(item.uuid);
    expect(item.changes.map(({ project }) => project)).toEqual(['org/project1', 'org/project2']);
    expect(merges(world)).toEqual(['merge org/project1 master/A', 'merge org/project2 master/B']);
  },
);

story(
  'a host that lands topics is asked once, and the queue need not name topics',
  { layout: layout({ cycles: true }), contractHost: true },
  async world => {
    contractOf(world).landsTopics = true;
    await proposeBoth(world);
    world.free();
    await world.approve('A');
    await world.decided('A', 'dependency-not-ready');
    await world.approve('B');
    await world.leaves('A', 'SUCCESS');
    await world.leaves('B', 'SUCCESS');
    expect(merges(world)).toEqual(['merge org/project1 master/A']);
    for (const [project, id] of [
      ['org/project1', 'master/A'],
      ['org/project2', 'master/B'],
    ] as const)
      expect((await contractOf(world).proposal(project, id)).state).toBe('merged');
  },
);

story(
  'without either, changes of a topic have nothing to do with each other',
  { layout: layout({ cycles: true }), contractHost: true },
  async world => {
    await proposeBoth(world);
    world.free();
    await world.approve('A');
    await world.leaves('A', 'SUCCESS');
    expect(merges(world)).toEqual(['merge org/project1 master/A']);
    expect(contractOf(world).calls.filter(call => call.startsWith('topic'))).toEqual([]);
  },
);

story(
  'a change of the topic that the gate has never heard of is found at the host',
  { layout: layout({ byTopic: true }), contractHost: true },
  async world => {
    const host = contractOf(world);
    const deliver = host.onDelivery;
    await world.propose('A', { project: 'org/project1' });
    const head = await world.developer('org/project2').git('rev-parse', 'master');
    host.onDelivery = () => {};
    await host.propose('org/project2', { id: 'master/B', branch: 'master', head });
    await host.setTopic('org/project2', 'master/B', 'login');
    await host.setTopic('org/project1', 'master/A', 'login');
    host.onDelivery = deliver;
    await world.approve('A');
    const refused = await world.decided('A', 'dependency-not-ready');
    expect(refused.text).toContain('master/B');
    expect(host.calls).toContain('topic login');
  },
);

story(
  'a change joins the topic of one in check: both are tested together at once',
  { layout: layout({ check: true, byTopic: true }), contractHost: true },
  async world => {
    const host = contractOf(world);
    await world.propose('A', { project: 'org/project1' });
    await host.setTopic('org/project1', 'master/A', 'login');
    await world.runs('project-merge: A');
    await world.propose('B', { project: 'org/project2' });
    await host.setTopic('org/project2', 'master/B', 'login');
    await world.runs('project-merge: A B', 'project-merge: A B');
    world.free();
    const item = await world.leaves('B', 'SUCCESS', 'check');
    expect((await world.leaves('A', 'SUCCESS', 'check')).uuid).toBe(item.uuid);
    const finished = await world.observer.finished();
    expect(finished.map(({ result }) => result).sort()).toEqual(['DEQUEUED', 'DEQUEUED', 'SUCCESS']);
  },
);
