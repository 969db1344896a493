/** `provides` and `requires`, after Zuul's tests of them: who waits for whose build, and what comes of it. */
import { describe, expect, test } from 'vitest';
import { explainItem } from '../../../src/explain/explain.ts';
import { jobStandings, waitText } from '../../../src/model/job-standing.ts';
import type { BuildResult } from '../../../src/model/results.ts';
import { violationsOf } from '../../invariants/history-checker.ts';
import { job, nameOf, type PipelineWorld, World } from './world.ts';

/** Changes of `lib` build an image that jobs of `app` require; B, of app, needs A, of lib. */
function worldOf(): World {
  const world = new World();
  for (const project of ['lib', 'app']) world.queue(project, 'integrated');
  world.jobs('lib', [job('build', { provides: ['image'] }), job('unit')]);
  world.jobs('app', [job('deploy', { requires: ['image', 'other'] })]);
  world.change('A', { project: 'lib' });
  world.change('B', { project: 'app', dependsOn: ['A'] });
  return world;
}

/** Changes are merged and frozen, and jobs started as far as they may. */
function settle(pipeline: PipelineWorld): void {
  while (pipeline.merges.length > 0) pipeline.turn(pipeline.merges.map(merge => pipeline.mergeEvent(merge)));
}

function running(pipeline: PipelineWorld): readonly string[] {
  return pipeline.builds.map(({ item, job: name }) => `${nameOf(item)} ${name}`);
}

const ARTIFACT = { name: 'image', url: 'https://files.example.org/image', metadata: { type: 'container' } };

function end(pipeline: PipelineWorld, change: string, name: string, result: BuildResult = 'SUCCESS'): void {
  const build = pipeline.builds.find(each => nameOf(each.item) === change && each.job === name);
  if (build === undefined) throw new Error(`${name} of ${change} does not run`);
  const event = pipeline.resultEvent(build, result);
  if (event.kind !== 'build-result') throw new Error('no result');
  pipeline.turn([{ ...event, returned: { artifacts: [ARTIFACT] } }]);
  settle(pipeline);
}

const standing = (pipeline: PipelineWorld, change: string) =>
  [...jobStandings(pipeline.item(change).buildset).values()].map(waitText);

function requested(pipeline: PipelineWorld, name: string): unknown {
  const commands = pipeline.history.flatMap(({ output }) => output.commands);
  const found = commands.findLast(each => each.kind === 'request-build' && each.job === name);
  if (found?.kind !== 'request-build') throw new Error(`${name} was not requested`);
  return found.artifacts;
}

describe('a job that requires what a change ahead provides', () => {
  test('waits in the gate for that build, and gets its artifacts', () => {
    const world = worldOf();
    const gate = world.pipeline('gate', { manager: 'dependent' });
    gate.enqueue('A', 'B');
    settle(gate);
    expect(running(gate)).toEqual(['A build', 'A unit']);
    expect(standing(gate, 'B')).toEqual(['requirements: image, other']);
    expect(gate.item('B').timeline.at(-1)).toMatchObject({
      state: 'requirement',
      subject: expect.stringMatching(/^image, other, which lib A,\S+ provides$/),
      item: gate.item('A').uuid,
    });
    end(gate, 'A', 'build');
    expect(running(gate)).toEqual(['A unit', 'B deploy']);
    expect(requested(gate, 'deploy')).toEqual([
      { ...ARTIFACT, project: 'lib', change: 'A', patchset: expect.any(String), job: 'build' },
    ]);
    expect(gate.item('B').buildset.requirementWaits).toMatchObject([
      { job: 'deploy', requires: ['image', 'other'], ended: { outcome: 'met' } },
    ]);
    expect(JSON.stringify(explainItem(gate.item('B'), gate.world.now))).toContain(
      'waited for image, other, which lib A',
    );
    expect(violationsOf(gate.history)).toEqual([]);
  });

  test('is tested without the change whose provider failed, and then waits for nothing', () => {
    const gate = worldOf().pipeline('gate', { manager: 'dependent' });
    gate.world.change('C', { project: 'app' });
    gate.enqueue('A', 'C');
    settle(gate);
    expect(standing(gate, 'C')).toEqual(['requirements: image, other']);
    end(gate, 'A', 'build', 'FAILURE');
    expect(running(gate)).toEqual(['A unit', 'C deploy']);
    expect(requested(gate, 'deploy')).toBeUndefined();
  });

  test('waits in check for the item of the dependency, wherever it is in the pipeline', () => {
    const verify = worldOf().pipeline('check');
    verify.enqueue('A', 'B');
    settle(verify);
    expect(standing(verify, 'B')).toEqual(['requirements: image, other']);
    end(verify, 'A', 'build');
    expect(requested(verify, 'deploy')).toMatchObject([{ name: 'image', change: 'A' }]);
  });

  test('gets in check what the dependency provided before its item left', () => {
    const verify = worldOf().pipeline('check');
    verify.enqueue('A');
    settle(verify);
    end(verify, 'A', 'build');
    end(verify, 'A', 'unit');
    verify.turn(verify.dueReports().map(report => verify.reportEvent(report)));
    expect(verify.state.items.size).toBe(0);
    expect(verify.state.provided).toMatchObject([{ builds: [{ job: 'build', result: 'SUCCESS' }] }]);
    verify.enqueue('B');
    settle(verify);
    expect(requested(verify, 'deploy')).toMatchObject([{ name: 'image', change: 'A' }]);
  });

  test('fails in check when the provider has failed, while its item is there and afterwards', () => {
    const verify = worldOf().pipeline('check');
    verify.enqueue('A', 'B');
    settle(verify);
    end(verify, 'A', 'build', 'FAILURE');
    const [build] = verify.item('B').buildset.builds;
    expect(build?.state).toMatchObject({
      state: 'completed',
      result: 'FAILURE',
      detail: expect.stringMatching(
        /^deploy requires image, and build of lib A,\S+, which provides it, ended/,
      ),
    });
    end(verify, 'A', 'unit');
    while (verify.dueReports().length > 0)
      verify.turn(verify.dueReports().map(report => verify.reportEvent(report)));
    verify.enqueue('B');
    settle(verify);
    expect(verify.item('B').buildset.builds[0]?.state).toMatchObject({ result: 'FAILURE' });
    expect(running(verify)).toEqual([]);
  });

  test('does not wait where nothing ahead provides it', () => {
    const gate = worldOf().pipeline('gate', { manager: 'dependent' });
    gate.world.change('C', { project: 'app' });
    gate.enqueue('C');
    settle(gate);
    expect(running(gate)).toEqual(['C deploy']);
  });
});
