/**
 * Invariant 8: each slot of a semaphore is held by one open build at most, no slot is at or above `max` when it is taken, and jobs hold
 * all of their semaphores or none.
 */
import { isOpen } from '../../src/model/build.ts';
import { graphOf } from '../../src/model/build-set.ts';
import { semaphoreKey } from '../../src/model/semaphore.ts';
import type { TurnInput, TurnOutput } from '../../src/pipeline/turn.ts';
import type { Complain } from './complain.ts';

export class SemaphoreChecks {
  readonly #complain: Complain;

  constructor(complain: Complain) {
    this.#complain = complain;
  }

  turn(input: TurnInput, output: TurnOutput): void {
    const holders = new Map<string, string>();
    for (const item of output.state.items.values())
      for (const build of item.buildset.builds.filter(isOpen)) {
        const wanted = graphOf(item.buildset)?.jobs.find(({ name }) => name === build.job)?.semaphores ?? [];
        const held = (build.semaphores ?? []).map(({ name }) => name);
        if (JSON.stringify(held) !== JSON.stringify(wanted.map(({ name }) => name)))
          this.#complain('8', `${build.job} runs with semaphores [${held}]`);
        for (const hold of build.semaphores ?? []) {
          const slot = `${semaphoreKey(hold)} ${hold.slot}`;
          const other = holders.get(slot);
          if (other !== undefined) this.#complain('8', `slot ${slot} is held by ${other} and ${build.uuid}`);
          holders.set(slot, build.uuid);
          const facts = input.semaphores?.get(hold.name);
          const isNew = !input.state.items
            .get(item.uuid)
            ?.buildset.builds.some(({ uuid }) => uuid === build.uuid);
          if (facts === undefined || !isNew) continue;
          if (hold.slot >= facts.max || facts.takenByOthers.has(hold.slot))
            this.#complain('8', `slot ${slot} of ${facts.max} was not free for ${build.uuid}`);
        }
      }
  }
}
