/**
 * Job graphs and recipes of chains that no item names any more.
 *
 *     const seen = await blobs.candidates();               // first: which there are, and in which version
 *     const holdings = await readHoldings(store, paths);   // then: which are named
 *     commit(blobs.unused(seen, holdings.blobs))           // those unnamed now and at the previous sweep, in that version
 *
 * A recipe is made once, with the event that names it; the item names it in the commit that takes the event. A turn writes a graph before the commit that names it. That commit checks that the graph is there and gives one that was
 * there before a new version, so it cannot be removed between the two: either removal fails or the turn is taken again.
 */
import type { StorePaths } from '../../store/paths.ts';
import { type Operation, remove, type Store } from '../../store/port.ts';

/** As many recipes may be unused as changes have landed since the sweep before. */
const READ_AT_ONCE = 200;

interface BlobCandidates {
  readonly all: readonly string[];
  /** Versions of those that were unused at the sweep before. */
  readonly versions: ReadonlyMap<string, number>;
}

/** One for each term of the sweeper: it remembers what was unused at the sweep before. */
export interface BlobSweeper {
  candidates(): Promise<BlobCandidates>;
  /** One removal for each; that of a graph fails when a turn uses it again. */
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
      for (let at = 0; at < old.length; at += READ_AT_ONCE) {
        const chunk = old.slice(at, at + READ_AT_ONCE);
        const nodes = await store.getMany(chunk.map(blob => paths.blob(blob)));
        for (const [index, blob] of chunk.entries()) {
          const node = nodes[index];
          if (node !== undefined) versions.set(blob, node.stat.version);
        }
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
