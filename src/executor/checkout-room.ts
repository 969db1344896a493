/**
 * Limits the size of a build's checkouts: they are measured in the object database before they are written, because a few
 * kilobytes there may be terabytes here. Counts all checkouts of one build, including those that are kept afterwards.
 */
import { OverBudget, tooManyEntries } from '../git/objects/tree-budget.ts';
import type { TreeSize } from '../git/objects/tree-size.ts';

/** The checkouts of a build exceed what it may write: its own fault, so it ends with DISK_FULL. */
export class CheckoutTooLarge extends Error {
  override readonly name = 'CheckoutTooLarge';
}

/** What one build may still check out, shared by all its checkouts. */
export interface CheckoutRoom {
  /** Reserves the size of a checkout. @returns its bytes. @throws CheckoutTooLarge */
  take(name: string, measure: () => Promise<TreeSize>): Promise<number>;
}

/** Files of one build, even without a limit on bytes. */
const MAX_ENTRIES = 1_000_000;

/** @param limit bytes; null: no limit. */
export function createCheckoutRoom(limit: number | null): CheckoutRoom {
  let entries = 0;
  let bytes = 0;
  return {
    async take(name, measure) {
      const size = await measured(name, measure);
      entries += size.entries;
      bytes += size.bytes;
      if (entries > MAX_ENTRIES)
        throw new CheckoutTooLarge(`${name}: ${tooManyEntries(entries, MAX_ENTRIES).message}`);
      if (limit !== null && bytes > limit) {
        throw new CheckoutTooLarge(
          `with ${name} the checkouts take ${bytes} bytes, more than the ${limit} bytes the build may write`,
        );
      }
      return size.bytes;
    },
  };
}

async function measured(name: string, measure: () => Promise<TreeSize>): Promise<TreeSize> {
  try {
    return await measure();
  } catch (error) {
    if (error instanceof OverBudget && error.of !== 'time')
      throw new CheckoutTooLarge(`${name}: ${error.message}`);
    throw error;
  }
}
