/** Values of labels as people write them: `2`, `"+2"`, `-1`. */
import type { Json } from '../../../src/model/job.ts';

/** What Gerrit can store. */
const LARGEST = 32_767;

/** @returns undefined: not a whole number that Gerrit takes. */
export function readVoteValue(value: Json): number | undefined {
  const number = typeof value === 'string' && /^[+-]?\d{1,5}$/.test(value) ? Number(value) : value;
  if (typeof number !== 'number' || !Number.isInteger(number) || Math.abs(number) > LARGEST) return undefined;
  // Not minus zero.
  return number === 0 ? 0 : number;
}

/** As Gerrit writes it: `Verified +1`, `Code-Review -2`, `Verified 0`. */
export function voteText(label: string, value: number): string {
  return `${label} ${signed(value)}`;
}

/** `+1`, `-2`, `0`. */
export function signed(value: number): string {
  return value > 0 ? `+${value}` : String(value);
}

/** Whether Gerrit takes it as the name of a label. */
export function isLabelName(name: string): boolean {
  return /^[A-Za-z0-9][A-Za-z0-9-]{0,99}$/.test(name);
}
