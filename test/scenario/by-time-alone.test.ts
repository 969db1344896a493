/** Requirements on age become true or false at their time, without an event. */
import { expect } from 'vitest';
import { ageDrivers } from '../fake/age-driver.ts';
import { gateYaml } from '../fake/layout-text.ts';
import { ONE_JOB } from './layouts.ts';
import { story } from './story.ts';

const layout = (requirement: string) =>
  `${gateYaml({
    require: `{approved: true, ${requirement}}`,
    notes: ['failure'],
  })}${ONE_JOB}`;

story(
  'a change that is too young enters by itself when it is old enough',
  { layout: layout('older-than: 5'), drivers: ageDrivers },
  async world => {
    world.free();
    await world.propose('A');
    await world.approve('A');
    const refused = await world.decided('A', 'requirement-not-met');
    expect(refused.text).toMatch(/^it is not 5 s old yet; checked again at 20\d\d-.*Z$/);
    await world.leaves('A', 'SUCCESS');
    expect(await world.landed()).toEqual(['A']);
    const codes = (await world.decisions('A')).map(({ code }) => code);
    expect(codes.filter(code => code === 'requirement-not-met').length).toBe(1);
    expect(codes.filter(code => code === 'trigger-matched').length).toBe(1);
  },
);

story(
  'a change that waits to be old enough is not forgotten when the service restarts',
  { layout: layout('older-than: 6'), drivers: ageDrivers },
  async world => {
    world.free();
    await world.propose('A');
    await world.approve('A');
    await world.decided('A', 'requirement-not-met');
    await world.restart('org/project');
    await world.leaves('A', 'SUCCESS');
    expect(await world.landed()).toEqual(['A']);
  },
);

story(
  'a change that was approved too long ago leaves at that time',
  { layout: layout('newer-than: 15'), drivers: ageDrivers },
  async world => {
    await world.propose('A');
    await world.approve('A');
    await world.runs('test: A');
    const left = await world.leaves('A', 'FAILURE');
    expect(left.reason).toBe('requirement-lost');
    expect(await world.landed()).toEqual([]);
  },
);
