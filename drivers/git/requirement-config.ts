/**
 * `require: {local: {approved: true, open: true, current-patchset: true}}`, and the same keys below `reject:`, where a
 * change is refused when all that is written holds.
 */
import { compiledOnce } from '../../src/driver/compiled-once.ts';
import type { ParseResult } from '../../src/driver/parse-result.ts';
import { parsedBefore, readMapping } from '../../src/driver/read-mapping.ts';
import type { Verdict } from '../../src/driver/verdict.ts';
import type { ChangeRecord } from '../../src/model/change.ts';
import type { Json } from '../../src/model/job.ts';
import { readFacts } from './facts.ts';

/** Each with its condition, and the clauses for met and not met. */
const KEYS = {
  approved: {
    holds: (record: ChangeRecord) => readFacts(record.facts).approved,
    yes: 'its current commit is approved',
    no: 'its current commit is not approved',
  },
  open: {
    holds: (record: ChangeRecord) => record.status === 'open',
    yes: 'it is open',
    no: 'it is not open',
  },
  'current-patchset': {
    // A proposal branch has one commit, the current one; only a ref update has none.
    holds: (record: ChangeRecord) =>
      readFacts(record.facts)['current-patchset'] || record.change.kind === 'ref',
    yes: 'it is the current patchset',
    no: 'it is not the current patchset',
  },
};

/** See `DriverConfigLanguage`. Keys that are not written do not occur in the result. */
export function parseRequirement(value: Json): ParseResult<{ readonly [key: string]: boolean }> {
  const mapping = readMapping(value, Object.keys(KEYS), 'a requirement of a git connection');
  const wanted = Object.keys(KEYS).flatMap((key): [string, boolean][] => {
    const found = mapping.boolean(key);
    return found === undefined ? [] : [[key, found]];
  });
  return mapping.result(Object.fromEntries(wanted));
}

const stored = compiledOnce(value => parsedBefore(parseRequirement(value)));

/** @returns all conditions in one clause, or the first that is not met. @throws Error for a requirement not parsed before. */
export function requirementMet(requirement: Json, record: ChangeRecord): Verdict {
  const wanted = stored(requirement);
  const said: string[] = [];
  for (const [key, { holds, yes, no }] of Object.entries(KEYS)) {
    const expected = wanted[key];
    if (expected === undefined) continue;
    const found = holds(record);
    if (found !== expected) return { met: false, text: found ? yes : no };
    said.push(found ? yes : no);
  }
  return { met: true, text: said.length === 0 ? 'nothing is required' : said.join(', ') };
}
