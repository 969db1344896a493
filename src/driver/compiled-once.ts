/**
 * What pipelines say is read again in every turn for every change. The stored JSON of a layout stays the same object for as long as
 * the layout is in force, so what is made of it is kept with it.
 */
import type { Json } from '../model/job.ts';

/** @param make a pure function; its results live as long as their arguments. Texts and numbers are not kept. */
export function compiledOnce<T>(make: (value: Json) => T): (value: Json) => T {
  const kept = new WeakMap<object, T>();
  return value => {
    if (typeof value !== 'object' || value === null) return make(value);
    const found = kept.get(value);
    if (found !== undefined) return found;
    const made = make(value);
    kept.set(value, made);
    return made;
  };
}
