/** Times as Gerrit's REST API writes them: UTC, without a zone. Pure. */
import { type Nanoseconds, parseNanoseconds } from '../../../src/lib/clock.ts';
import type { Json } from '../../../src/model/job.ts';

const TIME = /^(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?$/;

/** @param json `2026-11-22 13:52:49.000000000`. @returns null: not such a time. */
export function readGerritTime(json: Json | undefined): Nanoseconds | null {
  if (typeof json !== 'string') return null;
  const [, day, time, fraction = ''] = TIME.exec(json) ?? [];
  const ms = Date.parse(`${day}T${time}Z`);
  if (Number.isNaN(ms) || ms < 0) return null;
  return parseNanoseconds(`${BigInt(ms / 1000)}${fraction.padEnd(9, '0')}`);
}

/** For `since:` of a query; whole seconds, the fraction is cut. @returns `2026-11-22 13:52:49`. */
export function gerritTimeText(time: Nanoseconds): string {
  const ms = Number(BigInt(time) / 1_000_000n);
  return new Date(ms).toISOString().slice(0, 19).replace('T', ' ');
}
