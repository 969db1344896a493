import { expect } from 'vitest';
import { layoutWith } from './layouts.ts';
import { story } from './story.ts';

const REVIEWED = `
- pipeline:
    name: reviewed
    manager: independent
    require:
      local: {approved: true}
    trigger:
      local: [{event: approved}]
- job:
    name: unit
- project:
    name: org/project
    check: {jobs: [unit]}
    reviewed: {jobs: [unit]}
`;

story(
  'where review is required, a change does not bring unreviewed code of another change along',
  { layout: layoutWith(REVIEWED, { gate: false, check: true }) },
  async world => {
    await world.propose('A');
    await world.propose('B', { on: 'A' });
    await world.runs('unit: A', 'unit: A B');
    world.release(/./);
    await world.approve('B');
    const refused = await world.decided('B', 'dependency-not-ready');
    expect(refused.text).toContain('master/A');
    await world.runs();
    await world.approve('A');
    await world.runs('unit: A');
    await world.withdraw('B');
    await world.approve('B');
    await world.runs('unit: A', 'unit: A B');
  },
);

story(
  'a change goes on in check when one it is tested with is abandoned',
  { layout: layoutWith(REVIEWED, { gate: false, check: true }) },
  async world => {
    await world.propose('A');
    await world.propose('B', { on: 'A' });
    await world.runs('unit: A', 'unit: A B');
    await world.abandon('A');
    await world.runs('unit: A B');
    world.release(/./);
    await world.leaves('B', 'SUCCESS', 'check');
  },
);

const ALONE = `
- pipeline:
    name: alone
    manager: independent
    ignore-dependencies: true
    start-message: 'Alone: {change.project} {change.number} in {pipeline.name}, {item_url}'
    trigger:
      local: [{event: proposed}]
    start:
      local: {note: true}
- job:
    name: unit
- project-template:
    name: all
    check: {jobs: [unit]}
    alone: {jobs: [unit]}
- project: {name: org/project1, templates: [all]}
- project: {name: org/project2, templates: [all]}
`;

story(
  'a pipeline that ignores dependencies tests each change by itself, also those that need each other',
  { layout: layoutWith(ALONE, { gate: false, check: true }) },
  async world => {
    await world.propose('A', { project: 'org/project1', message: 'Depends-On: org/project2@master/B' });
    await world.runs('unit: A');
    expect(world.queued('alone')).toEqual(['A']);
    await world.propose('B', { project: 'org/project2', message: 'Depends-On: org/project1@master/A' });
    await world.runs('unit: A', 'unit: B');
    expect(world.queued('alone')).toEqual(['A', 'B']);
    expect(world.queued('check')).toEqual([]);
    // The other one is the refusal of check.
    expect((await world.notes('B', 2)).join('\n')).toMatch(
      /^Alone: org\/project2 master\/B in alone, http:\/\/\S+\/item\/[0-9a-f]{32}$/m,
    );
    world.free();
    for (const topic of ['A', 'B']) await world.leaves(topic, 'SUCCESS', 'alone');
  },
);
