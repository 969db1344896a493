import type { RefName } from '../objects/ref-name.ts';
import { createLru } from '../support/lru.ts';

/** Refs of one mirror that the remote did not have when it was last asked. A hint: each request asks again. */
export interface AbsentRefs {
  has(ref: RefName): boolean;
  add(ref: RefName): void;
  delete(ref: RefName): void;
}

const MOST_ABSENT = 10_000;

/** Empty at first; one process's memory. */
export function createAbsentRefs(): AbsentRefs {
  const refs = createLru<RefName, true>(MOST_ABSENT);
  return {
    has: ref => refs.get(ref) === true,
    add: ref => refs.set(ref, true),
    delete: ref => refs.delete(ref),
  };
}
