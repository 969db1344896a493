/**
 * What pipelines say about the fake host. Triggers are those of the git driver; requirements look at votes and their dates:
 *
 *     require: {local: {approved: true, open: true, newer-than: 3600}}
 *     success: {local: {merge: squash, note: true}}
 */

import { parseTrigger, triggerMatches } from '../../../drivers/git/trigger-config.ts';
import type { DriverConfigLanguage } from '../../../src/driver/driver.ts';
import type { ParseResult } from '../../../src/driver/parse-result.ts';
import { parsedBefore, readMapping } from '../../../src/driver/read-mapping.ts';
import type { Verdict } from '../../../src/driver/verdict.ts';
import { millisecondsBetween, type Nanoseconds } from '../../../src/lib/clock.ts';
import type { ChangeRecord } from '../../../src/model/change.ts';
import type { Json } from '../../../src/model/job.ts';
import type { Vote } from './host.ts';
import type { Strategy } from './repository.ts';

type Requirement = { readonly [key: string]: Json };

interface Facts {
  readonly approved: boolean;
  readonly votes: readonly Vote[];
}

type ReporterConfig = { readonly merge: Strategy | null; readonly note: boolean };

function parseRequirement(value: Json): ParseResult<Requirement> {
  const keys = ['approved', 'open', 'current-patchset', 'newer-than'];
  const mapping = readMapping(value, keys, 'a requirement of a contract connection');
  const newerThan = (value as Requirement | null)?.['newer-than'];
  if (newerThan !== undefined && typeof newerThan !== 'number')
    mapping.refuse(['newer-than'], 'wrong-type', '"newer-than" must be seconds');
  const flags = keys.slice(0, 3).flatMap(key => {
    const found = mapping.boolean(key);
    return found === undefined ? [] : [[key, found] as const];
  });
  return mapping.result({
    ...Object.fromEntries(flags),
    ...(newerThan === undefined ? {} : { 'newer-than': newerThan }),
  });
}

function meets(requirement: Json, record: ChangeRecord, now: Nanoseconds): Verdict {
  const wanted = parsedBefore(parseRequirement(requirement));
  const { approved, votes } = record.facts as unknown as Facts;
  const age = wanted['newer-than'];
  const youngest = votes.at(-1);
  if (wanted.approved === true && !approved) return { met: false, text: 'its revision has no vote' };
  if (wanted.open === true && record.status !== 'open') return { met: false, text: 'it is not open' };
  if (
    typeof age === 'number' &&
    (youngest === undefined || millisecondsBetween(youngest.at, now) > age * 1000)
  )
    return { met: false, text: `its youngest vote is older than ${age} s` };
  return { met: true, text: 'its votes are there' };
}

export function parseReporter(value: Json): ParseResult<ReporterConfig> {
  const mapping = readMapping(value, ['merge', 'note'], 'a reporter of a contract connection');
  const merge = (value as { readonly merge?: Json } | null)?.merge;
  const strategy = merge === true || merge === 'merge' ? 'merge' : merge === 'squash' ? merge : null;
  if (strategy === null && merge !== undefined && merge !== null && merge !== false)
    mapping.refuse(['merge'], 'unknown-value', '"merge" must be true, merge or squash');
  return mapping.result({ merge: strategy, note: mapping.boolean('note') ?? false });
}

export const language: DriverConfigLanguage = {
  parseTrigger,
  parseRequirement,
  parseReporter,
  matches: triggerMatches,
  meets,
  landingMode: reporter => (parsedBefore(parseReporter(reporter)).merge === null ? null : 'api'),
};
