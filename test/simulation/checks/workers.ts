/** I15, I17, I18: a build runs on one executor, once; only who holds it says what became of it. */
import type { Transaction } from '../store/server.ts';
import type { World } from '../world.ts';
import type { Check, Complain } from './check.ts';
import { pipelineEventOf } from './decoded.ts';

export class Workers implements Check {
  readonly #world: World;
  readonly #complain: Complain;

  constructor(world: World, complain: Complain) {
    this.#world = world;
    this.#complain = complain;
  }

  /** A worker's result comes in the same write that ends its claim. */
  committed({ operations, process }: Transaction): void {
    for (const operation of operations) {
      if (operation.kind !== 'create' || !/\/pipelines\/[^/]+\/events\/$/.test(operation.path)) continue;
      const event = pipelineEventOf(operation.data);
      const claim =
        event.kind === 'build-result' && event.worker !== null
          ? `build/default/claimed/${event.build}`
          : event.kind === 'merger-result' && event.outcome.worker !== ''
            ? `merge/default/claimed/${event.request}`
            : undefined;
      if (claim === undefined) continue;
      if (!operations.some(({ kind, path }) => kind === 'delete' && path.endsWith(claim)))
        this.#complain('I15', `${process} put a ${event.kind} without ending the claim ${claim}`);
    }
  }

  finished(): void {
    const runs = Map.groupBy(this.#world.jobRuns, run => run.build);
    for (const [build, all] of runs) {
      if (all.length > 1)
        this.#complain('I15', `build ${build} ran ${all.length} times: ${all.map(run => run.by).join(', ')}`);
    }
  }
}
