/**
 * Checks a recorded history of turns against what must always hold: those invariants of the gating contract that
 * concern a pipeline's decisions. It shares no code with the decisions: it knows only records, events and commands.
 *
 *   1  merged at most once, from the head, in order, only what was tested    merges.ts
 *   2  results of a buildset that was replaced are never used                builds.ts
 *   6  every item leaves exactly once, with one result                       items.ts
 *   7  a build is asked for once, ends once; cancel wins                     builds.ts
 *   8  a slot of a semaphore has one holder                                 semaphores.ts
 *   9  retries within the attempts, only after RETRY                         builds.ts
 *   -  one item at a time, the newest only, where the manager promises it    managers.ts
 *   -  the timeline tiles the item's life; queues and items agree            items.ts
 *
 * Feed it every call of `decideTurn` that was committed, in order: `checker.turn(input, output)`; `finish` at the end of a
 * history that should have drained.
 */

import type { TurnInput, TurnOutput } from '../../src/pipeline/turn.ts';
import { BuildChecks } from './builds.ts';
import type { Complain } from './complain.ts';
import { ItemChecks } from './items.ts';
import { ManagerChecks } from './managers.ts';
import { MergeChecks } from './merges.ts';
import { SemaphoreChecks } from './semaphores.ts';

export interface Violation {
  /** Number in the gating contract, or a word. */
  readonly invariant: string;
  /** Which call, from 0. */
  readonly turn: number;
  readonly text: string;
}

export class HistoryChecker {
  readonly violations: Violation[] = [];
  readonly #merges: MergeChecks;
  readonly #builds: BuildChecks;
  readonly #items: ItemChecks;
  readonly #managers: ManagerChecks;
  readonly #semaphores: SemaphoreChecks;
  #turn = -1;

  constructor() {
    const complain: Complain = (invariant, text) =>
      this.violations.push({ invariant, turn: this.#turn, text });
    this.#merges = new MergeChecks(complain);
    this.#builds = new BuildChecks(complain);
    this.#items = new ItemChecks(complain);
    this.#managers = new ManagerChecks(complain);
    this.#semaphores = new SemaphoreChecks(complain);
  }

  turn(input: TurnInput, output: TurnOutput): void {
    this.#turn += 1;
    this.#merges.turn(input, output);
    this.#builds.turn(input, output);
    this.#items.turn(input, output);
    this.#managers.turn(input, output);
    this.#semaphores.turn(input, output);
  }

  /** Everything asked for has been answered: nothing may be left in the pipeline. */
  finish(): void {
    this.#items.drained();
  }
}

export function violationsOf(
  history: readonly { readonly input: TurnInput; readonly output: TurnOutput }[],
): readonly Violation[] {
  const checker = new HistoryChecker();
  for (const { input, output } of history) checker.turn(input, output);
  return checker.violations;
}
