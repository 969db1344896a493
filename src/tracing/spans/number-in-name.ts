/**
 * Numbers in names of spans. Backends index every name they ever received, so names must be few: the exact number is an attribute.
 *
 *     numberInName(2)     // '2'
 *     numberInName(31)    // '10+'
 */
export function numberInName(value: number): string {
  return value < 10 ? String(value) : '10+';
}
