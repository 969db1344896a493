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
