/** Names of patch sets as commands take them, `12,3`, by their commits. They never change. */

import { isMapping } from '../../../../src/driver/read-mapping.ts';
import { createLru } from '../../../../src/git/support/lru.ts';
import { type JsonMapping, mappingsOf } from '../info-json.ts';

/** In the memory of one process. */
export interface PatchsetNames {
  /** Undefined: not known yet. */
  get(number: string, commit: string): string | undefined;
  /** All patch sets that a row of a query shows. */
  note(row: JsonMapping): void;
}

const MOST = 10_000;

export function createPatchsetNames(): PatchsetNames {
  const names = createLru<string, string>(MOST);
  return {
    get: (number, commit) => names.get(`${number} ${commit}`),
    note(row) {
      const shown = [row.currentPatchSet, ...mappingsOf(row.patchSets, MOST)];
      for (const patchset of shown) {
        const { number, revision } = isMapping(patchset) ? patchset : {};
        if (typeof number === 'number' && typeof revision === 'string')
          names.set(`${row.number} ${revision}`, `${row.number},${number}`);
      }
    },
  };
}
