/**
 * Slots of semaphores whose build is gone, which takes a damaged record: a turn that ends a build frees its slots in the same commit.
 * And directories of semaphores that no build holds: a proposed change may name any number of them.
 *
 *     const seen = await slots.candidates();               // first: which there are, and in which version
 *     const holdings = await readHoldings(store, paths);   // then: which are held
 *     commit(slots.unused(seen, holdings.slots))           // those unheld now and at the previous sweep, in that version
 */
import type { StorePaths } from '../../store/paths.ts';
import { type Operation, remove, type Store } from '../../store/port.ts';

interface SlotCandidates {
  /** Version of each slot, by path. Ephemeral ones go with the process that holds them. */
  readonly slots: ReadonlyMap<string, number>;
  readonly emptyDirectories: readonly string[];
}

/** One for each term of the sweeper: it remembers what was unheld at the sweep before. */
export interface SlotSweeper {
  candidates(): Promise<SlotCandidates>;
  /** One removal for each; it fails when a turn has taken the slot since. */
  unused(candidates: SlotCandidates, held: ReadonlySet<string>): readonly Operation[];
}

const READ_AT_ONCE = 200;

/** Its first sweep removes no slot. */
export function createSlotSweeper(store: Store, paths: StorePaths): SlotSweeper {
  let unheldBefore: ReadonlyMap<string, number> = new Map();

  async function below(path: string): Promise<readonly string[]> {
    return ((await store.children(path)) ?? []).map(name => `${path}/${name}`);
  }

  async function directories(): Promise<readonly string[]> {
    const tenants = await below(paths.tenantSemaphores);
    const ofTenants = await Promise.all(tenants.map(below));
    return [...(await below(paths.globalSemaphores)), ...ofTenants.flat()];
  }

  return {
    async candidates() {
      const slots = new Map<string, number>();
      const emptyDirectories: string[] = [];
      for (const directory of await directories()) {
        const names = await below(directory);
        if (names.length === 0) emptyDirectories.push(directory);
        for (let at = 0; at < names.length; at += READ_AT_ONCE) {
          const chunk = names.slice(at, at + READ_AT_ONCE);
          for (const [index, node] of (await store.getMany(chunk)).entries()) {
            const path = chunk[index];
            if (path !== undefined && node !== undefined && node.stat.ephemeralOwner === undefined)
              slots.set(path, node.stat.version);
          }
        }
      }
      return { slots, emptyDirectories };
    },
    unused({ slots, emptyDirectories }, held) {
      const unheld = [...slots].filter(([path]) => !held.has(path));
      const leaked = unheld.filter(([path, version]) => unheldBefore.get(path) === version);
      unheldBefore = new Map(unheld);
      return [
        ...leaked.map(([path, version]) => remove(path, version)),
        ...emptyDirectories.map(directory => remove(directory)),
      ];
    },
  };
}
