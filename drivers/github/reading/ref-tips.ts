/** Where branches and tags were when an event of them was processed last, in the driver's memory. */
import type { DriverMemory } from '../../../src/driver/driver-memory.ts';
import { type MemoryIndex, openMemoryIndex } from '../../../src/driver/memory-index.ts';

/** `object` as GitHub lists it, of an annotated tag the tag object. Both null: it was deleted. */
type RememberedTip =
  | { readonly object: string; readonly commit: string }
  | { readonly object: null; readonly commit: null };

/** Refs by their full names. */
export interface RefTips {
  /** Undefined: no event of it was processed. */
  get(ref: string): Promise<RememberedTip | undefined>;
  set(ref: string, tip: RememberedTip): Promise<void>;
  readonly changes: MemoryIndex['changes'];
}

const DELETED = 'deleted';

/** @param repository `owner/name`. */
export function openRefTips(memory: DriverMemory, repository: string): RefTips {
  const index = openMemoryIndex(memory, `refs/${repository}`);
  return {
    async get(ref) {
      const text = await index.get(ref);
      if (text === undefined) return undefined;
      const [object = '', commit = object] = text.split(' ');
      return object === DELETED ? { object: null, commit: null } : { object, commit };
    },
    set: (ref, tip) => index.set(ref, textOf(tip)),
    changes: index.changes,
  };
}

/** An annotated tag is remembered with the commit that it marks. */
function textOf({ object, commit }: RememberedTip): string {
  if (object === null) return DELETED;
  return object === commit ? object : `${object} ${commit}`;
}
