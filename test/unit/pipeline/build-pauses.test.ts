/** A build that pauses for the jobs that depend on it, and all the ways in which its pause ends. */
import { describe, expect, test } from 'vitest';
import { resultOf } from '../../../src/model/build.ts';
import type { Returned } from '../../../src/model/returned.ts';
import { job, type PipelineWorld, World } from './world.ts';

const on = (...names: readonly string[]) => ({ dependencies: names.map(name => ({ name, soft: false })) });

/** A in the gate, `image` running. */
function gateOf(): PipelineWorld {
  const world = new World();
  const gate = world.pipeline('gate', { manager: 'dependent' });
  world.jobs('app', [job('image'), job('unit', on('image')), job('docs', on('unit'))]);
  world.change('A', { project: 'app' });
  gate.enqueue('A');
  gate.turn(gate.merges.map(merge => gate.mergeEvent(merge)));
  gate.turn([gate.startEvent(buildOf(gate, 'image'))]);
  return gate;
}

function buildOf(gate: PipelineWorld, name: string) {
  const found = gate.builds.findLast(each => each.job === name);
  if (found === undefined) throw new Error(`no build of ${name}`);
  return found;
}

function pause(gate: PipelineWorld, returned?: Returned) {
  return gate.turn([gate.pausedEvent(buildOf(gate, 'image'), returned)]);
}

/** How each attempt stands, in the order of the requests. */
function standing(gate: PipelineWorld): readonly string[] {
  return gate.item('A').buildset.builds.map(build => {
    const { state } = build;
    const paused = state.state === 'started' && state.pause !== undefined;
    const word = paused
      ? state.pause?.until === null
        ? 'paused'
        : 'resumed'
      : (resultOf(build) ?? state.state);
    return `${build.job} ${word}${build.outdatedBy === undefined ? '' : ' outdated'}`;
  });
}

describe('a paused build', () => {
  test('lets those that depend on it run, with what it returned, and goes on when the last has ended', () => {
    const gate = gateOf();
    pause(gate, { data: { port: 5000 } });
    expect(standing(gate)).toEqual(['image paused', 'unit requested']);
    expect(gate.item('A').buildset.builds[0]?.state).toMatchObject({
      pause: { returned: { data: { port: 5000 } } },
    });
    gate.turn([gate.resultEvent(buildOf(gate, 'unit'), 'SUCCESS')]);
    expect(standing(gate)).toEqual(['image paused', 'unit SUCCESS', 'docs requested']);
    expect(gate.item('A').buildset.builds.map(({ priority }) => priority)).toEqual([
      'normal',
      'high',
      'high',
    ]);
    const turn = gate.turn([gate.resultEvent(buildOf(gate, 'docs'), 'FAILURE')]);
    expect(standing(gate)).toEqual(['image resumed', 'unit SUCCESS', 'docs FAILURE']);
    expect(turn.commands).toContainEqual({ kind: 'resume-build', build: buildOf(gate, 'image').build });
    expect(turn.decisions.map(({ code }) => code)).toContain('pause');
    gate.turn([gate.resultEvent(buildOf(gate, 'image'), 'SUCCESS')]);
    expect(gate.item('A').buildset.stage).toMatchObject({ result: 'FAILURE' });
  });

  test('goes on at once where it leaves out all that depend on it', () => {
    const gate = gateOf();
    pause(gate, { childJobs: [] });
    expect(standing(gate)).toEqual(['image resumed', 'unit SKIPPED', 'docs SKIPPED']);
  });

  test('whose data does not fit goes on at once, and nothing that depends on it starts', () => {
    const gate = gateOf();
    const returned = { data: { text: 'x'.repeat(200_001) } };
    pause(gate, returned);
    expect(standing(gate)).toEqual(['image resumed']);
    const result = gate.resultEvent(buildOf(gate, 'image'), 'SUCCESS');
    gate.turn([{ ...result, returned } as typeof result]);
    expect(standing(gate)).toEqual(['image ERROR', 'unit SKIPPED', 'docs SKIPPED']);
  });

  test('that is lost with its executor outdates what ran with it, and all of it runs again', () => {
    const gate = gateOf();
    pause(gate);
    gate.turn([gate.resultEvent(buildOf(gate, 'unit'), 'FAILURE')]);
    expect(gate.item('A').buildset.builds.map(({ state }) => state.state)).toEqual([
      'started',
      'completed',
      'skipped',
    ]);
    // As if its executor died before it read that it is to go on.
    gate.turn([gate.lostEvent(buildOf(gate, 'image'), gate.world.now)]);
    expect(standing(gate)).toEqual([
      'image RETRY',
      'unit FAILURE outdated',
      'docs SKIPPED outdated',
      'image requested',
    ]);
    expect(gate.item('A').buildset.stage.state).toBe('running');
    gate.turn([gate.startEvent(buildOf(gate, 'image'))]);
    pause(gate);
    gate.turn([gate.resultEvent(buildOf(gate, 'unit'), 'SUCCESS')]);
    gate.turn([gate.resultEvent(buildOf(gate, 'docs'), 'SUCCESS')]);
    gate.turn([gate.resultEvent(buildOf(gate, 'image'), 'SUCCESS')]);
    expect(gate.item('A').buildset.stage).toMatchObject({ result: 'SUCCESS' });
  });

  test('that is lost stops what still runs with it', () => {
    const gate = gateOf();
    pause(gate);
    const unit = buildOf(gate, 'unit');
    const turn = gate.turn([gate.lostEvent(buildOf(gate, 'image'), gate.world.now)]);
    expect(turn.commands).toContainEqual({ kind: 'cancel-build', build: unit.build });
    expect(standing(gate)).toEqual(['image RETRY', 'unit CANCELED outdated', 'image requested']);
  });

  test('ends with its item', () => {
    const gate = gateOf();
    pause(gate);
    const image = buildOf(gate, 'image');
    gate.world.get('A').status = 'abandoned';
    const turn = gate.updated('A');
    expect(turn.commands).toContainEqual({ kind: 'cancel-build', build: image.build });
  });

  test('pauses once, however often its event comes', () => {
    const gate = gateOf();
    const event = gate.pausedEvent(buildOf(gate, 'image'));
    gate.turn([event]);
    gate.turn([event]);
    expect(standing(gate)).toEqual(['image paused', 'unit requested']);
  });
});
