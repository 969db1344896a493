import { describe, expect, it } from 'vitest';
import type { Uuid } from '../../../src/lib/ids.ts';
import type { QueueItem } from '../../../src/model/queue-item.ts';
import { chainOf, job, nameOf, type PipelineWorld, World } from './world.ts';

function gate(names: readonly string[]): { world: World; pipeline: PipelineWorld } {
  const world = new World();
  world.jobs('app', [job('unit')]);
  for (const name of names) world.change(name, { project: 'app' });
  const pipeline = world.pipeline('gate', { manager: 'dependent' });
  pipeline.enqueue(...names);
  return { world, pipeline };
}

function mergeOf(pipeline: PipelineWorld, name: string) {
  const merge = pipeline.merges.find(({ item }) => nameOf(item) === name);
  if (merge === undefined) throw new Error(`no merge of ${name} is asked for`);
  return merge;
}

function succeed(pipeline: PipelineWorld): void {
  pipeline.turn(pipeline.builds.map(build => pipeline.resultEvent(build, 'SUCCESS')));
}

function report(pipeline: PipelineWorld): void {
  pipeline.turn(pipeline.reports.map(each => pipeline.reportEvent(each)));
}

describe('an item behind conflicts', () => {
  it('is reset, with the cause, when its answer comes in the turn in which an item ahead fails', () => {
    const { pipeline } = gate(['A', 'B']);
    pipeline.turn([pipeline.mergeEvent(mergeOf(pipeline, 'A'))]);
    const failures = pipeline.builds.map(build => pipeline.resultEvent(build, 'FAILURE'));
    pipeline.turn([...failures, pipeline.mergeEvent(mergeOf(pipeline, 'B'))]);
    expect(pipeline.item('B').buildset).toMatchObject({ number: 2, cause: { code: 'item-ahead-failed' } });
  });

  it('is merged again, without a reset, when what was below the conflict has landed meanwhile', () => {
    const { world, pipeline } = gate(['A', 'B', 'C']);
    world.conflict('A', 'B');
    pipeline.turn([pipeline.mergeEvent(mergeOf(pipeline, 'A'))]);
    succeed(pipeline);
    report(pipeline);
    const { request } = mergeOf(pipeline, 'C');
    pipeline.turn([pipeline.mergeEvent(mergeOf(pipeline, 'B'))]);
    expect(mergeOf(pipeline, 'C').request).not.toBe(request);
    expect(chainOf(mergeOf(pipeline, 'C')).map(nameOf)).toEqual(['C']);
    expect(pipeline.item('C').buildset.number).toBe(1);
  });

  it('is judged anew when what was said to conflict lands after all', () => {
    const { world, pipeline } = gate(['A', 'B']);
    pipeline.turn(pipeline.merges.map(merge => pipeline.mergeEvent(merge)));
    world.change('C', { project: 'app' });
    world.conflict('A', 'B');
    pipeline.enqueue('C');
    pipeline.turn([pipeline.mergeEvent(mergeOf(pipeline, 'C'))]);
    expect(pipeline.item('C').buildset).toMatchObject({
      stage: { state: 'complete', result: 'MERGE_CONFLICT', tested: null },
      conflict: { change: 'local/app#B', with: 'local/app#A' },
    });
    succeed(pipeline);
    report(pipeline);
    report(pipeline);
    expect(world.landed).toEqual(['A', 'B']);
    pipeline.turn([pipeline.mergeEvent(mergeOf(pipeline, 'C'))]);
    succeed(pipeline);
    report(pipeline);
    expect(world.landed).toEqual(['A', 'B', 'C']);
  });

  it('is reset when its merge was asked for by a scheduler of 0.3, which did not note what is ahead', () => {
    const { world, pipeline } = gate(['A', 'B', 'C']);
    world.conflict('A', 'B');
    pipeline.state = { ...pipeline.state, items: new Map([...pipeline.state.items].map(asOf03)) };
    pipeline.turn([pipeline.mergeEvent(mergeOf(pipeline, 'B'))]);
    expect(pipeline.item('B').buildset.stage).toMatchObject({ result: 'MERGE_CONFLICT' });
    expect(pipeline.item('C').buildset).toMatchObject({ number: 2, cause: { code: 'item-ahead-conflict' } });
    expect(chainOf(mergeOf(pipeline, 'C')).map(nameOf)).toEqual(['A', 'C']);
  });
});

function asOf03([uuid, item]: readonly [Uuid, QueueItem]): [Uuid, QueueItem] {
  const { stage } = item.buildset;
  if (stage.state !== 'merging') return [uuid, item];
  const { ahead: _, ...old } = stage;
  return [uuid, { ...item, buildset: { ...item.buildset, stage: old } }];
}
