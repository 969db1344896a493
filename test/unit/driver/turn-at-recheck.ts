import { expect } from 'vitest';
import type { RequirementJudge } from '../../../src/driver/requirement.ts';
import { addMilliseconds, type Nanoseconds } from '../../../src/lib/clock.ts';
import type { ChangeRecord } from '../../../src/model/change.ts';
import type { Json } from '../../../src/model/job.ts';

/** Until the time of the recheck both verdicts stand, and there one turns. @param ms after `now` they are looked at as well. */
export function expectTurnAtRecheck(
  { meets, rejects, recheckAt }: RequirementJudge,
  requirement: Json,
  record: ChangeRecord,
  { now, ms }: { readonly now: Nanoseconds; readonly ms: number },
): void {
  const verdicts = (at: Nanoseconds) => [meets, rejects].map(judge => judge(requirement, record, at).met);
  const recheck = recheckAt(requirement, record, now);
  const sample = addMilliseconds(now, ms);
  if (recheck === null || BigInt(sample) < BigInt(recheck)) expect(verdicts(sample)).toEqual(verdicts(now));
  if (recheck === null) return;
  expect(BigInt(recheck)).toBeGreaterThan(BigInt(now));
  expect(verdicts((BigInt(recheck) - 1n).toString() as Nanoseconds)).toEqual(verdicts(now));
  expect(verdicts(recheck)).not.toEqual(verdicts(now));
}
