/**
 * Job graphs that no item names any more.
 *
 *     const seen = await blobs.candidates();               // first: which there are, and in which version
 *     const holdings = await readHoldings(store, paths);   // then: which are named
 *     commit(blobs.unused(seen, holdings.blobs))           // those unnamed now and at the previous sweep, in that version
 *
 * A turn writes a graph before the commit that names it. That commit checks that the graph is there and gives one that was
 * there before a new version, so it cannot be removed between the two: either removal fails or the turn is taken again.
 */
import type { StorePaths } from '../../store/paths.ts';
import { type Operation, remove, type Store } from '../../store/port.ts';

interface BlobCandidates {
  readonly all: readonly string[];
  /** Versions of those that were unused at the sweep before. */
  readonly versions: ReadonlyMap<string, number>;
}

/** One for each term of the sweeper: it remembers what was unused at the sweep before. */
export interface BlobSweeper {
  candidates(): Promise<BlobCandidates>;
  /** One removal for each; any of them may fail when a turn uses the graph again. */
  unused(candidates: BlobCandidates, used: ReadonlySet<string>): readonly Operation[];
}

/** Its first sweep removes nothing. */
export function createBlobSweeper(store: Store, paths: StorePaths): BlobSweeper {
  let unusedBefore: ReadonlySet<string> = new Set();
  return {
    async candidates() {
      const all = (await store.children(paths.blobs)) ?? [];
      const old = all.filter(blob => unusedBefore.has(blob));
      const versions = new Map<string, number>();
      for (const blob of old) {
        const node = await store.get(paths.blob(blob));
        if (node !== undefined) versions.set(blob, node.stat.version);
      }
      return { all, versions };
    },
    unused({ all, versions }, used) {
      const removed = [...versions].filter(([blob]) => !used.has(blob));
      unusedBefore = new Set(all.filter(blob => !used.has(blob) && !versions.has(blob)));
      return removed.map(([blob, version]) => remove(paths.blob(blob), version));
    },
  };
}
