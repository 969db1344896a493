/** One server's copy of the tree: it applies what the leader committed, in order, sooner or later. */
import { NodeTree } from '../../../src/store/embedded/tree.ts';
import type { Operation } from '../../../src/store/port.ts';

export interface Committed {
  /** From 1, without gaps. */
  readonly number: number;
  readonly session: string;
  readonly operations: readonly Operation[];
}

export interface TreeChange {
  readonly kind: 'created' | 'changed' | 'deleted';
  readonly path: string;
}

export class Replica {
  readonly tree = new NodeTree();
  /** Number of the last transaction applied. */
  applied = 0;
  /** Milliseconds after a commit at which this copy has it. */
  lag = 0;
  readonly #onApplied: (changes: readonly TreeChange[], number: number) => void;

  constructor(onApplied: (changes: readonly TreeChange[], number: number) => void) {
    this.#onApplied = onApplied;
  }

  /** @param log all transactions; applies those up to `number`. */
  catchUp(log: readonly Committed[], number: number): void {
    while (this.applied < number) {
      const next = log[this.applied];
      if (next === undefined) return;
      const { changes } = this.tree.apply(next.operations, next.session, next.number);
      this.applied = next.number;
      this.#onApplied(
        changes.map(({ kind, node }) => ({ kind, path: node.path })),
        next.number,
      );
    }
  }
}
