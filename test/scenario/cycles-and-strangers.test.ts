/** Changes that depend on each other over the edge of what the tenant has, or of what its queue allows. */
import { expect } from 'vitest';
import { NOTED } from '../fake/layout-text.ts';
import { contractOf } from './contract-host-stories.ts';
import { layoutWith } from './layouts.ts';
import { CONFIG_PROJECT } from './site.ts';
import { story } from './story.ts';
import type { World } from './world.ts';

const TO_A = 'Depends-On: org/project1@master/A';
const TO_B = 'Depends-On: org/project2@master/B';

const queue = 'queue: {name: integrated, allow-circular-dependencies: true}';
const layout = layoutWith(
  `
- ${queue}
- job: {name: unit}
- project: {name: org/project, queue: integrated, gate: {jobs: [unit]}}
- project: {name: org/project1, queue: integrated, gate: {jobs: [unit]}}
- project: {name: org/project2, queue: integrated, gate: {jobs: [unit]}}
`,
  { gate: { notes: NOTED } },
);

const variablesOf = (world: World, changes: string) =>
  world.stage.builds.find(build => build.changes === changes)?.variables.zuul.items ?? [];

story(
  'a cycle with a change of another tenant is refused, and the reason names it; the rest goes on when it has landed',
  {
    layout,
    elsewhere: {
      'org/neighbour': { 'README.md': 'Elsewhere.\n' },
      'org/unknown': { 'README.md': 'Nowhere.\n' },
    },
    tenantStanzas: '- tenant: {name: neighbour, source: {local: {untrusted-projects: [org/neighbour]}}}\n',
  },
  async world => {
    world.free();
    await world.propose('A', { project: 'org/project1', message: 'Depends-On: org/neighbour@master/B' });
    await world.propose('B', { project: 'org/neighbour', message: TO_A });
    await world.approve('A');
    const refused = await world.decided('A', 'dependency-cycle');
    expect(refused.text).toContain('does not have the project of org/neighbour master/B');
    expect(refused.text).not.toContain('allow-circular-dependencies');
    expect(await world.notes('A', 1)).toHaveLength(1);

    // Of a project that no tenant has, nothing is known.
    await world.propose('C', { project: 'org/project1', message: 'Depends-On: org/unknown@master/D' });
    const unknown = world.developer('org/unknown');
    const commit = await unknown.commit({
      files: { d: 'd\n' },
      message: 'Change D\n\nDepends-On: org/project1@master/C',
    });
    await unknown.push(commit, 'refs/heads/for/master/D');
    await world.approve('C');
    expect((await world.decided('C', 'dependency-unresolved')).text).toContain('org/unknown@master/D');
    expect(world.queued()).toEqual([]);

    const neighbour = world.developer('org/neighbour');
    const b = await neighbour.tip('refs/heads/for/master/B');
    await world.push('org/neighbour', b ?? null, 'refs/heads/master');
    await world.withdraw('A');
    await world.approve('A');
    await world.leaves('A', 'SUCCESS');
    expect(await world.landed('org/project1')).toEqual(['A']);
  },
);

story(
  'a queue that takes no cycles any more lets go what is in it, and reports it on both; the change behind lands',
  { layout },
  async world => {
    await world.propose('A', { project: 'org/project1', message: TO_B });
    await world.propose('B', { project: 'org/project2', message: TO_A });
    await world.propose('C');
    await world.approve('A');
    await world.decided('A', 'dependency-not-ready');
    await world.approve('B');
    await world.approve('C');
    await world.runs('unit: A B', 'unit: A B', 'unit: A B C');
    const [a, b, c] = variablesOf(world, 'A B C');
    expect(a).toMatchObject({ bundle_id: world.item('A')?.uuid });
    expect(b).toMatchObject({ bundle_id: world.item('A')?.uuid });
    expect(c).not.toHaveProperty('bundle_id');

    const developer = world.developer(CONFIG_PROJECT);
    const files = { 'zuul.yaml': layout.replace(queue, 'queue: {name: integrated}') };
    await world.push(
      CONFIG_PROJECT,
      await developer.commit({ files, message: 'No cycles' }),
      'refs/heads/master',
    );
    expect((await world.leaves('A', 'DEQUEUED')).reason).toBe('cycle-changed');
    for (const topic of ['A', 'B'])
      expect((await world.notes(topic, 2)).at(-1)).toContain('allow-circular-dependencies');
    world.free();
    await world.leaves('C', 'SUCCESS');
    expect(await world.landed()).toEqual(['C']);
    expect(await world.landed('org/project1')).toEqual([]);
    expect(await world.landed('org/project2')).toEqual([]);
  },
);

story(
  'changes for two protected branches land together where others are excluded, and many of one topic are few questions',
  {
    layout: layout
      .replace(
        queue,
        'queue: {name: integrated, allow-circular-dependencies: true, dependencies-by-topic: true}',
      )
      .replaceAll('merge: true', 'merge: merge'),
    contractHost: true,
    projectOptions: '{exclude-unprotected-branches: true}',
  },
  async world => {
    const host = contractOf(world);
    for (const [project, branch] of [
      ['org/project1', 'stable'],
      ['org/project2', 'feature'],
    ] as const) {
      await host.setRules(project, branch, { protected: true, locked: false });
      const developer = world.developer(project);
      await developer.push(await developer.git('rev-parse', 'master'), `refs/heads/${branch}`);
      await host.pushed(project);
    }
    const deliver = host.onDelivery;
    const kept: Parameters<typeof deliver>[0][] = [];
    host.onDelivery = delivery => void kept.push(delivery);
    const places = [...'ABCDEFGH'].map((topic, index) =>
      index % 2 === 0
        ? { topic, project: 'org/project1', branch: 'stable', id: `stable/${topic}` }
        : { topic, project: 'org/project2', branch: 'feature', id: `feature/${topic}` },
    );
    for (const { topic, project, branch, id } of places) {
      const head = await world
        .developer(project)
        .commit({ files: { [topic]: topic }, message: `Change ${topic}`, branch });
      await world.developer(project).push(head, `refs/staging/${topic}`);
      await host.propose(project, { id, branch, head });
      await host.setTopic(project, id, 'login');
      await host.vote(project, id);
    }
    host.onDelivery = deliver;
    for (const delivery of kept) deliver(delivery);
    world.free();
    const finished = await world.observer.until('the topic to land', async () => {
      const all = await world.observer.finished();
      return all.length > 0 && all;
    });
    expect(finished.map(({ result, changes }) => [result, changes.length])).toEqual([
      ['SUCCESS', places.length],
    ]);
    expect(host.calls.filter(call => call === 'topic login').length).toBeLessThan(places.length);
    for (const { project, id } of places) expect((await host.proposal(project, id)).state).toBe('merged');
  },
);
