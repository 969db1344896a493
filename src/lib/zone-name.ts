/** Names of zones of executors: they become part of names in the store, where a `~` stands for a hyphen. */

/** What to write instead. */
export const ZONE_ADVICE = 'use up to 50 letters, digits, ".", "_" and "-"';

export function isZone(name: string): boolean {
  return /^[A-Za-z0-9_.-]{1,50}$/.test(name);
}
