/**
 * Numbers as they may stand in a span's name. Backends index every name they ever saw, so a name must be one of few: the number itself
 * is an attribute.
 *
 *     numberInName(2)     // '2'
 *     numberInName(31)    // '10+'
 */
export function numberInName(value: number): string {
  return value < 10 ? String(value) : '10+';
}
