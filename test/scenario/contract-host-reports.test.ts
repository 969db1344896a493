/** A host that shows reports in its own form gets them as data. */
import { expect } from 'vitest';
import { NOTED } from '../fake/layout-text.ts';
import { contractOf } from './contract-host-stories.ts';
import { layoutWith } from './layouts.ts';
import { story } from './story.ts';

const LAYOUT = layoutWith(
  `
- job:
    name: unit
    failure-message: broken
- job:
    name: docs
- job:
    name: deploy
    dependencies: [unit]
- project:
    name: org/project
    gate:
      jobs:
        - unit
        - docs:
            voting: false
        - deploy
`,
  { gate: { notes: NOTED } },
);

story(
  'a code host gets each report as data: the place, the change, and every job with its facts',
  { layout: LAYOUT, contractHost: true },
  async world => {
    world.fail('unit', 'A');
    await world.propose('A');
    await world.approve('A');
    await world.runs('unit: A', 'docs: A');
    world.free();
    const { uuid } = await world.leaves('A', 'FAILURE');
    const reports = () => contractOf(world).reports('org/project', 'master/A');
    await world.observer.until('the host to have both reports', () => reports().length === 2);
    const [start, end] = reports();

    const common = {
      item: uuid,
      place: { pipeline: 'gate', queue: { name: expect.any(String), entryPosition: 1 } },
      changes: [{ id: 'master/A', project: 'local/org/project', branch: 'master' }],
    };
    const [url, time] = [expect.stringMatching(/\/build\/[0-9a-f]{32}$/), expect.stringMatching(/^\d+$/)];
    expect(start).toMatchObject({ ...common, action: 'start', result: '', reason: null });
    expect(end).toMatchObject({
      ...common,
      action: 'failure',
      result: 'FAILURE',
      reason: null,
      jobs: [
        {
          name: 'unit',
          result: 'FAILURE',
          message: 'broken',
          voting: true,
          url,
          startedAt: time,
          endedAt: time,
        },
        { name: 'docs', result: 'SUCCESS', voting: false, url, startedAt: time, endedAt: time },
        { name: 'deploy', result: 'SKIPPED', detail: 'because of unit', url, startedAt: null, endedAt: null },
      ],
      urls: { item: expect.stringContaining(uuid) },
    });
    expect(end?.text).toMatch(/^- unit \S+ : broken.* in \d/m);
  },
);
