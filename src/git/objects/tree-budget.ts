/**
 * Bounds the cost of reading trees for one request. A proposal of 80 KB can have 10^10 paths, because its directories may share
 * their contents; so every entry read is counted, and the event loop gets its turns in between.
 *
 *     const budget = createTreeBudget();
 *     await budget.spend(tree.size);                 // throws OverBudget
 */
import { nextTurn, turnIsUsed } from '../../lib/turns.ts';

/** Shared by all trees that one request reads. A request that exceeds it ends. */
export interface TreeBudget {
  /** Entries a request may read, and paths it may list. */
  readonly limit: number;
  /** Counts entries before they are read. @throws OverBudget */
  spend(entries: number): Promise<void>;
  /** Counts the bytes of a path that is listed. @throws OverBudget */
  list(bytes: number): void;
}

/** The request costs more than any honest project. */
export class OverBudget extends Error {
  override readonly name = 'OverBudget';
  /** `entries`, `names`: true for every worker. `time`: another worker, or a later try, may succeed. */
  readonly of: 'entries' | 'names' | 'time';
  constructor(of: OverBudget['of'], message: string) {
    super(message);
    this.of = of;
  }
}

const MAX_ENTRIES = 1_000_000;
/** The answer that holds the paths must fit into one record. */
const MAX_NAMES = 800_000;
const MAX_SECONDS = 120;

/** For requests that may cost less than others, such as reading configuration. */
export interface TreeBudgetOptions {
  /** Default 1 000 000: a change of every file of the largest projects known. */
  readonly entries?: number;
  /** Of wall time from the first entry on; default 120. */
  readonly seconds?: number;
}

/** May be made early: its time runs from the first entry on. */
export function createTreeBudget(options: TreeBudgetOptions = {}): TreeBudget {
  const limit = options.entries ?? MAX_ENTRIES;
  const seconds = options.seconds ?? MAX_SECONDS;
  let spent = 0;
  let listed = 0;
  let until: number | undefined;
  return {
    limit,
    async spend(entries) {
      spent += entries;
      if (spent > limit) throw tooManyEntries(spent, limit);
      until ??= performance.now() + seconds * 1000;
      if (!turnIsUsed()) return;
      if (performance.now() > until)
        throw new OverBudget('time', `its tree could not be read within ${seconds} s`);
      await nextTurn();
    },
    list(bytes) {
      listed += bytes;
      if (listed <= MAX_NAMES) return;
      throw new OverBudget(
        'names',
        `it changes too many paths: their names have more than ${MAX_NAMES} bytes`,
      );
    },
  };
}

/** @param entries a computed number: it may be beyond exact integers. */
export function tooManyEntries(entries: number, limit: number): OverBudget {
  const shown = Number.isSafeInteger(entries) ? String(entries) : `more than ${Number.MAX_SAFE_INTEGER}`;
  return new OverBudget('entries', `its tree is too large to read: ${shown} entries, limit ${limit}`);
}
