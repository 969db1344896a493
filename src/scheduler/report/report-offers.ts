/** The reports of an outbox that are not under way, and which of them no process can have tried. */
import { listOutbox, type OutboxEntry } from '../../store/outbox.ts';
import type { Store } from '../../store/port.ts';

/** An intent to be performed. */
export interface Offer extends OutboxEntry {
  /**
   * It was requested in this term and has not been offered before. So nothing of it is at the host, and no later report of its item
   * was made before it: one that was put back is overtaken by those behind it.
   */
  readonly isFirst: boolean;
}

/** Of one term of a pipeline's holder. */
export interface ReportOffers {
  /** Those that came since, and those that were put back. */
  next(): Promise<readonly Offer[]>;
  putBack(path: string): void;
}

/** Another holder may have tried what is in the outbox already. */
export async function createOffers({
  store,
  outbox,
}: {
  readonly store: Store;
  readonly outbox: string;
}): Promise<ReportOffers> {
  const known = new Set((await listOutbox(store, outbox)).map(({ path }) => path));
  const taken = new Set<string>();
  return {
    async next() {
      const entries = await listOutbox(store, outbox);
      const present = new Set(entries.map(({ path }) => path));
      for (const set of [known, taken]) for (const path of set) if (!present.has(path)) set.delete(path);
      const free = entries.filter(({ path }) => !taken.has(path));
      return free.map(entry => {
        const isFirst = !known.has(entry.path);
        known.add(entry.path);
        taken.add(entry.path);
        return { ...entry, isFirst };
      });
    },
    putBack: path => void taken.delete(path),
  };
}
