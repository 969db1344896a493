/** A JSON object whose members are not known: an answer or a payload that a schema judges when it is sent. */
export interface Shape {
  [key: string]: unknown;
}

export function isShape(value: unknown): value is Shape {
  return value !== null && typeof value === 'object' && !Array.isArray(value);
}

/** The object at the end of a path. Throws where there is none: the fake was written for other examples. */
export function shapeAt(value: unknown, ...path: readonly (string | number)[]): Shape {
  let found = value;
  for (const step of path)
    found = Array.isArray(found) ? found[Number(step)] : isShape(found) ? found[step] : undefined;
  if (!isShape(found)) throw new Error(`no object at ${path.join('.')}`);
  return found;
}

export function textAt(shape: Shape, key: string): string | undefined {
  const value = shape[key];
  return typeof value === 'string' ? value : undefined;
}

/** Strings of a list; of objects in it those under `name`, as GitHub takes labels. */
export function textsOf(value: unknown): readonly string[] {
  if (!Array.isArray(value)) return [];
  return value.map(each => (isShape(each) ? String(each.name) : String(each)));
}
