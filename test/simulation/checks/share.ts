/** Structural sharing: what reads the same as before *is* the same object, as in the memory of a scheduler that never restarted. */

/** @returns `fresh`, with every part of `known` that is equal in its place; parts with a uuid are found by it. */
export function share<T>(known: unknown, fresh: T): T {
  const byUuid = new Map<string, unknown>();
  collect(known, byUuid);
  return shared(known, fresh, byUuid);
}

function collect(value: unknown, found: Map<string, unknown>): void {
  if (typeof value !== 'object' || value === null) return;
  if ('uuid' in value && typeof value.uuid === 'string') found.set(value.uuid, value);
  for (const part of Object.values(value)) collect(part, found);
}

function shared<T>(known: unknown, fresh: T, byUuid: ReadonlyMap<string, unknown>): T {
  if (typeof fresh !== 'object' || fresh === null) return fresh;
  const old: unknown =
    'uuid' in fresh && typeof fresh.uuid === 'string' ? (byUuid.get(fresh.uuid) ?? known) : known;
  if (typeof old !== 'object' || old === null || Array.isArray(old) !== Array.isArray(fresh)) {
    return withParts(fresh, value => shared(undefined, value, byUuid));
  }
  const before = new Map(Object.entries(old));
  const parts = withParts(fresh, (value, key) => shared(before.get(key), value, byUuid));
  const same =
    Object.keys(parts).length === before.size &&
    Object.entries(parts).every(([key, value]) => before.has(key) && Object.is(before.get(key), value));
  return same && isLike(parts, old) ? old : parts;
}

/** Every part, key by key, is the same: then the whole is. */
function isLike<T>(_parts: T, _old: unknown): _old is T {
  return true;
}

function withParts<T extends object>(value: T, change: (part: unknown, key: string) => unknown): T {
  const copy: T = Array.isArray(value) ? Object.assign([], value) : { ...value };
  for (const [key, part] of Object.entries(value)) Reflect.set(copy, key, change(part, key));
  return copy;
}
