/** Random histories of one pipeline: how the property tests play them, and what may merge. */
import fc from 'fast-check';
import { expect } from 'vitest';
import { Chaos, honestNature, type Nature, type Step, stepArbitrary } from '../unit/pipeline/chaos.ts';
import type { PipelineWorld, World } from '../unit/pipeline/world.ts';

/** `PROPERTY_RUNS=20` plays twenty times as many histories. */
export const more = Number(process.env.PROPERTY_RUNS ?? '1');
/** Milliseconds: some seconds of work, on a machine that does ten other things. */
export const patience = 300_000 * more;

/** Per change: its project, and the others that it needs, by their place. */
export interface RandomChange {
  readonly lib: boolean;
  readonly needs: readonly number[];
  readonly bad: boolean;
}

interface RandomChanges {
  readonly changes: readonly RandomChange[];
}

export const steps = (length: number): fc.Arbitrary<Step[]> =>
  fc.array(stepArbitrary, { maxLength: length, size: 'max' });

export function name(index: number): string {
  return String.fromCharCode(65 + index);
}

/** Names of the changes whose jobs fail. */
export function badOnes({ changes }: RandomChanges): ReadonlySet<string> {
  return new Set(changes.flatMap(({ bad }, index) => (bad ? [name(index)] : [])));
}

/** Adds the changes of the setting. @param fits which of the named others a change may need. */
export function addChanges(
  world: World,
  { changes }: RandomChanges,
  fits: (other: number, index: number) => boolean,
): void {
  changes.forEach(({ lib, needs }, index) => {
    const needed = needs.filter(other => fits(other, index));
    world.change(name(index), { project: lib ? 'lib' : 'app', dependsOn: needed.map(name) });
  });
}

/** Plays the steps, lets all work end, and holds every turn against the contract. */
export function playOut(pipeline: PipelineWorld, nature: Nature, played: Step[]): Chaos {
  const chaos = new Chaos(pipeline, nature);
  chaos.play(played);
  chaos.drain();
  expect(chaos.check()).toEqual([]);
  return chaos;
}

/**
 * The same with hosts and jobs that answer truly: exactly the good changes merge that need only good ones.
 *
 * @param natureOf what surrounds those answers.
 */
export function playHonestly(
  { world, pipeline }: { readonly world: World; readonly pipeline: PipelineWorld },
  setting: RandomChanges,
  played: Step[],
  natureOf: (honest: Nature) => Nature = honest => honest,
): void {
  const bad = badOnes(setting);
  const chaos = playOut(pipeline, natureOf(honestNature(pipeline, bad)), played);
  // What a refusal kept out before its time gets another chance.
  for (const entry of world.changes.keys()) if (world.get(entry).status === 'open') pipeline.enqueue(entry);
  chaos.drain();
  expect(chaos.check()).toEqual([]);
  expect([...world.landed].sort()).toEqual(mayMerge(world, bad));
}

/** Worked out from the changes alone: all that need, over any number of steps, good ones only. */
function mayMerge(world: World, bad: ReadonlySet<string>): string[] {
  const good = new Set([...world.changes.keys()].filter(each => !bad.has(each)));
  for (let before = -1; before !== good.size; ) {
    before = good.size;
    for (const each of good)
      if (!world.get(each).dependsOn.every(needed => good.has(needed))) good.delete(each);
  }
  return [...good].sort();
}
