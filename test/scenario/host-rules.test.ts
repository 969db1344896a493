/** The code host has rules for landing: the gate knows them before it tests anything. */
import { expect } from 'vitest';
import { gateYaml } from '../fake/layout-text.ts';
import { ruleDrivers } from '../fake/rule-driver.ts';
import { ONE_JOB } from './layouts.ts';
import { story } from './story.ts';

/** Gates every proposal; the host has rules of its own. */
const layout = (success: string, manager = 'dependent') =>
  `${gateYaml({
    manager,
    require: null,
    trigger: '[{event: [proposed, approved]}]',
    success,
    notes: ['failure'],
  })}${ONE_JOB}`;

story(
  'what the host would refuse is not tested, and the rule is named',
  { layout: layout('{merge: true, note: true}'), drivers: ruleDrivers },
  async world => {
    await world.propose('A');
    const refused = await world.decided('A', 'cannot-land');
    expect(refused.text).toBe('the rules of branch master want an approval');
    expect(world.queued()).toEqual([]);
    world.free();
    // The rule is met; the note that the host wants as well is the pipeline's own to give.
    await world.approve('A');
    await world.leaves('A', 'SUCCESS');
    expect(await world.landed()).toEqual(['A']);
    expect(await world.history()).toEqual(['test: A SUCCESS']);
  },
);

story(
  'a change that the host would not land any more leaves before it is reported',
  { layout: layout('{merge: true, note: true}'), drivers: ruleDrivers },
  async world => {
    await world.propose('A');
    await world.approve('A');
    await world.runs('test: A');
    await world.withdraw('A');
    const left = await world.leaves('A', 'FAILURE');
    expect(left.reason).toBe('cannot-land');
    const [note = ''] = await world.notes('A', 1);
    expect(note).toContain('the rules of branch master want an approval');
    expect(await world.landed()).toEqual([]);
  },
);

story(
  'a vote that the pipeline does not give itself is missed from the beginning',
  { layout: layout('{merge: true, note: false}'), drivers: ruleDrivers },
  async world => {
    await world.propose('A');
    await world.approve('A');
    await world.decided('A', 'cannot-land', 'does not give');
    expect(world.queued()).toEqual([]);
  },
);

story(
  'a pipeline that lands nothing does not ask',
  { layout: layout('{note: true}', 'independent'), drivers: ruleDrivers },
  async world => {
    world.free();
    await world.propose('A');
    await world.leaves('A', 'SUCCESS');
  },
);
