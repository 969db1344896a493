/** Pipelines that start because of what the gate did, after Zuul's test_zuultrigger_event.py. */
import { expect } from 'vitest';
import { BASE_JOB, gateYaml } from '../fake/layout-text.ts';
import { contractOf } from './contract-host-stories.ts';
import { story } from './story.ts';

const pipeline = (name: string, trigger: string) => `
- pipeline:
    name: ${name}
    manager: independent
    allow-other-connections: false
    trigger: {zuul: [${trigger}]}
    success: {local: {note: true}}
`;

const layout = `${gateYaml()}
${pipeline('merge-check', '{event: project-change-merged}')}
${pipeline('follow', '{event: parent-change-enqueued, pipeline: gate}')}
${BASE_JOB}
- job: {name: unit}
- job: {name: still-merges}
- job: {name: with-parent}
- project-template:
    name: all
    gate: {jobs: [unit]}
    merge-check: {jobs: [still-merges]}
    follow: {jobs: [with-parent]}
- project: {name: org/project, templates: [all]}
- project: {name: org/project1, templates: [all]}
`;

story(
  'a merge checks every open change of its project again, and each event leads back to the item that was merged',
  { layout },
  async world => {
    for (const topic of ['A', 'B', 'C']) await world.propose(topic);
    await world.propose('D', { project: 'org/project1' });
    await world.approve('A');
    await world.runs('unit: A');
    world.release(/unit/);
    const merged = await world.leaves('A', 'SUCCESS');
    await world.runs('still-merges: B', 'still-merges: C');
    world.free();
    for (const topic of ['B', 'C']) await world.leaves(topic, 'SUCCESS', 'merge-check');
    expect(await world.decided('B', 'trigger-matched')).toMatchObject({
      text: 'project-change-merged: event project-change-merged',
    });
    const roots = () =>
      world.sink.spans.filter(
        ({ parentSpanId, attributes }) =>
          parentSpanId === null && attributes['gatehouse.event.found_by'] === 'zuul',
      );
    await world.observer.until('the traces of both events', () => roots().length === 2);
    for (const { name, attributes } of roots()) {
      expect(name).toMatch(/^ZuulEvent/);
      expect(attributes).toMatchObject({ 'gatehouse.link.caused_by': merged.uuid });
    }
  },
);

story(
  'a change that enters the gate starts a pipeline for the changes that need it, also in other projects',
  { layout },
  async world => {
    await world.propose('A');
    await world.propose('B', { project: 'org/project1', message: 'Depends-On: org/project@master/A' });
    await world.propose('C');
    await world.approve('A');
    await world.runs('unit: A', 'with-parent: A B');
    world.free();
    await world.leaves('B', 'SUCCESS', 'follow');
    await world.leaves('A', 'SUCCESS');
    await world.leaves('C', 'SUCCESS', 'merge-check');
  },
);

story(
  'a merge checks a change of which the gate has never heard, and leaves out those that the host knows as closed',
  { layout: layout.replace('merge: true', 'merge: merge'), contractHost: true },
  async world => {
    const host = contractOf(world);
    await world.propose('A');
    const deliver = host.onDelivery;
    host.onDelivery = () => {};
    const head = await world.developer('org/project').commit({ files: { b: 'b\n' }, message: 'Change B' });
    await world.developer('org/project').push(head, 'refs/staging/B');
    for (const id of ['master/B', 'master/C'])
      await host.propose('org/project', { id, branch: 'master', head });
    await host.abandon('org/project', 'master/C');
    host.onDelivery = deliver;
    // The delivery of the approval is lost as well: the merge must not be found by a read of the project.
    await world.approve('A');
    await world.runs('unit: A');
    world.release(/unit/);
    await world.leaves('A', 'SUCCESS');
    await world.observer.until('B to be checked', () =>
      world.stage.builds.some(({ job, changes }) => job === 'still-merges' && changes === 'B'),
    );
    expect(host.calls).toContain('open org/project');
    expect(world.stage.builds.some(({ changes }) => changes === 'C')).toBe(false);
  },
);
