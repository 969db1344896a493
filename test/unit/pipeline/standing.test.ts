import { describe, expect, it } from 'vitest';
import { currentBuilds, jobStanding } from '../../../src/pipeline/job-standing.ts';
import { job, type PipelineWorld, World } from './world.ts';

function gateOf(): PipelineWorld {
  const world = new World();
  const gate = world.pipeline('gate', { manager: 'dependent', window: { initial: 3 } });
  world.jobs('app', [job('merge'), job('unit', { dependencies: [{ name: 'merge', soft: false }] })]);
  for (const name of ['A', 'B', 'C', 'D'])
    world.change(name, { project: 'app', dependsOn: name === 'C' ? ['B'] : [] });
  gate.enqueue('A', 'B', 'C', 'D');
  gate.turn(gate.merges.map(merge => gate.mergeEvent(merge)));
  return gate;
}

describe('the standing of a job', () => {
  const merge = job('merge');
  const unit = job('unit', { dependencies: [{ name: 'merge', soft: false }] });
  const open = { active: true, heldBy: null, host: null };

  it('names exactly one thing it waits for', () => {
    const { buildset } = gateOf().item('A');
    const builds = currentBuilds(buildset);
    expect(jobStanding(unit, builds, undefined, open)).toEqual({ kind: 'waits', for: 'dependencies: merge' });
    expect(
      jobStanding(merge, new Map(), undefined, { active: false, heldBy: 'app A,1', host: null }),
    ).toEqual({
      kind: 'waits',
      for: 'window',
    });
    expect(jobStanding(merge, new Map(), undefined, { active: true, heldBy: 'app A,1', host: null })).toEqual(
      {
        kind: 'waits',
        for: 'hold following: app A,1',
      },
    );
    expect(jobStanding(merge, new Map(), undefined, open)).toEqual({ kind: 'startable', attempt: 1 });
    expect(jobStanding(merge, builds, undefined, open)).toMatchObject({ kind: 'open' });
  });
});
