const SHOWN = 10;

/** Names for an error: the first ten, and the number of the others. */
export function shortList(names: readonly string[]): string {
  if (names.length <= SHOWN) return names.join(', ');
  return `${names.slice(0, SHOWN).join(', ')} and ${names.length - SHOWN} more`;
}
