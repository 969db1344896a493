/** Seconds per unit of a written duration. */
const UNITS: ReadonlyMap<string, number> = new Map([
  ['', 1],
  ['s', 1],
  ['m', 60],
  ['h', 3600],
  ['d', 86_400],
  ['w', 604_800],
]);

/** Seconds of `30`, `30s`, `5m`, `2h`, `1d`, `1w`, `1h30m`; undefined when `text` is no such duration. */
export function parseDuration(text: string): number | undefined {
  if (/^\d{1,12}$/.test(text)) return Number(text);
  if (!/^(\d{1,9}[smhdw])+$/.test(text)) return undefined;
  let seconds = 0;
  for (const [, amount, unit] of text.matchAll(/(\d+)([smhdw])/g)) {
    seconds += Number(amount) * (UNITS.get(unit ?? '') ?? 0);
  }
  return seconds;
}
