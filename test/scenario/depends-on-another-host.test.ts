/** A change on one connection depends on a change on another one. */
import { expect } from 'vitest';
import { BASE_JOB, checkYaml, gateYaml } from '../fake/layout-text.ts';
import { story } from './story.ts';

const CONNECTIONS = ['local', 'far'];
const OPEN = '{approved: true, open: true}';

/** org/project and far/lib share a queue; each is tested by one job. */
const LAYOUT = `${checkYaml({ connections: CONNECTIONS })}${gateYaml({ connections: CONNECTIONS, require: OPEN })}
- queue: {name: shared}
${BASE_JOB}
- job: {name: test}
- project:
    name: org/project
    queue: shared
    check: {jobs: [test]}
    gate: {jobs: [test]}
- project:
    name: org/lib
    queue: shared
    check: {jobs: [test]}
    gate: {jobs: [test]}
`;

const SITE = {
  layout: LAYOUT,
  projects: { 'org/project': { 'README.md': 'A project.\n' } },
  far: { 'org/lib': { 'README.md': 'A library elsewhere.\n' } },
};
const FAR = { project: 'org/lib' };
const NEEDS_B = { message: 'Depends-On: far.example.org/org/lib@master/B' };

story('check tests it together with what it needs', SITE, async world => {
  await world.propose('B', FAR);
  world.free();
  await world.leaves('B', 'SUCCESS', 'check');
  await world.propose('A', NEEDS_B);
  await world.leaves('A', 'SUCCESS', 'check');
  expect(await world.history()).toEqual(['test: B A SUCCESS', 'test: B SUCCESS']);
});

story('the gate lands it after what it needs, regardless of which host approves last', SITE, async world => {
  await world.propose('B', FAR);
  await world.propose('A', NEEDS_B);
  await world.observer.until('both to be in check', () => world.queued('check').length >= 2);
  world.free();
  await world.leaves('A', 'SUCCESS', 'check');
  await world.approve('A');
  expect((await world.decided('A', 'dependency-not-ready')).text).toContain('org/lib master/B');
  // The other side changes: what waits for it comes along.
  await world.approve('B');
  await world.leaves('B', 'SUCCESS');
  await world.leaves('A', 'SUCCESS');
  expect(await world.history()).toContain('test: B A SUCCESS');
  expect(await world.landed('org/lib')).toEqual(['B']);
  expect(await world.landed('org/project')).toEqual(['A']);
});

story('a change whose dependency is abandoned on the other host leaves the gate', SITE, async world => {
  await world.propose('B', FAR);
  await world.approve('B');
  await world.propose('A', NEEDS_B);
  await world.approve('A');
  await world.observer.until('both to be in the gate', () => world.queued().length === 2);
  await world.abandon('B');
  await world.leaves('B', 'DEQUEUED');
  const left = await world.leaves('A', 'FAILURE');
  expect(left.reason).toBe('dependency-lost');
  expect(await world.landed()).toEqual([]);
});

story(
  'a new patchset on the other host takes what was tested with the old one out of the gate',
  SITE,
  async world => {
    await world.propose('B', FAR);
    await world.approve('B');
    await world.propose('A', NEEDS_B);
    await world.approve('A');
    await world.observer.until('both to be in the gate', () => world.queued().length === 2);
    await world.propose('B', FAR);
    expect((await world.leaves('B', 'DEQUEUED')).reason).toBe('new-patchset');
    expect((await world.leaves('A', 'FAILURE')).reason).toBe('dependency-lost');
    // Approved again, the new one brings it along.
    await world.approve('B');
    world.free();
    await world.observer.until('A to land', async () => (await world.landed('org/project')).length > 0);
    expect(await world.landed('org/project')).toEqual(['A']);
  },
);

story('a change of a host that has landed there already is no dependency any more', SITE, async world => {
  world.free();
  await world.propose('B', FAR);
  await world.approve('B');
  await world.leaves('B', 'SUCCESS');
  await world.propose('A', NEEDS_B);
  await world.approve('A');
  await world.leaves('A', 'SUCCESS');
  expect(await world.landed('org/project')).toEqual(['A']);
});

story("a line that no connection knows is refused in its author's words", SITE, async world => {
  world.free();
  await world.propose('A', { message: 'Depends-On: https://elsewhere.example.org/org/lib@master/B' });
  await world.approve('A');
  expect((await world.decided('A', 'dependency-unresolved')).text).toBe(
    'unknown dependencies: https://elsewhere.example.org/org/lib@master/B',
  );
});
