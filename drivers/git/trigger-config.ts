/**
 * `trigger: {local: [{event: approved, branch: ^stable/}, {event: ref-updated, ref: ^refs/tags/v}]}`
 *
 * `branch` and `ref` are regular expressions (or lists, of which one must match) that match from the start. What the parser
 * returns parses to itself, so the stored form is read by the same function.
 */
import { compiledOnce } from '../../src/driver/compiled-once.ts';
import type { ParseResult } from '../../src/driver/parse-result.ts';
import { parsedBefore, readMapping } from '../../src/driver/read-mapping.ts';
import type { Verdict } from '../../src/driver/verdict.ts';
import { compileRegex } from '../../src/lib/regex.ts';
import type { TriggerEvent } from '../../src/model/event.ts';
import type { Json } from '../../src/model/job.ts';

const EVENTS = ['proposed', 'approved', 'abandoned', 'ref-updated'] as const;

type TriggerConfig = {
  readonly event: readonly (typeof EVENTS)[number][];
  /** Of the target branch of a change or of the branch that moved; empty: any. Tags have no branch. */
  readonly branch: readonly string[];
  /** Of full refs; empty: any. */
  readonly ref: readonly string[];
  /** Default true: a branch or tag that is deleted triggers nothing. */
  readonly 'ignore-deletes': boolean;
};

/** See `DriverConfigLanguage`. `event` is the only key that must be there. */
export function parseTrigger(value: Json): ParseResult<TriggerConfig> {
  const mapping = readMapping(
    value,
    ['event', 'branch', 'ref', 'ignore-deletes'],
    'a trigger of a git connection',
  );
  const event = mapping.choices('event', EVENTS);
  const branch = mapping.regexes('branch');
  const ref = mapping.regexes('ref');
  const ignoreDeletes = mapping.boolean('ignore-deletes');
  const written = typeof value === 'object' && value !== null && !Array.isArray(value) && 'event' in value;
  if (!written)
    mapping.refuse(
      [],
      'missing-key',
      `a trigger of a git connection needs "event": one of ${EVENTS.join(', ')}`,
    );
  else if (event.length === 0)
    mapping.refuse(['event'], 'missing-value', `"event" names no event; it may be ${EVENTS.join(', ')}`);
  if (ref.length > 0 && event.length > 0 && !event.includes('ref-updated')) {
    mapping.refuse(
      ['ref'],
      'wrong-event',
      '"ref" goes with the event ref-updated; for proposals and approvals use "branch"',
    );
  }
  return mapping.result({ event, branch, ref, 'ignore-deletes': ignoreDeletes ?? true });
}

const stored = compiledOnce(value => parsedBefore(parseTrigger(value)));

/** @returns what matched, or the first thing that did not. @throws Error for a trigger that was not parsed before. */
export function triggerMatches(trigger: Json, event: TriggerEvent): Verdict {
  const config = stored(trigger);
  if (!config.event.some(each => each === event.type))
    return no(`event ${event.type} is not ${config.event.join(' or ')}`);
  const said = [`event ${event.type}`];
  if (config.branch.length > 0) {
    if (event.branch === null) return no(`${event.ref ?? 'it'} is no branch`);
    const found = firstMatch(config.branch, event.branch);
    if (found === undefined) return no(`branch ${event.branch} does not match ${config.branch.join(' or ')}`);
    said.push(`branch ${event.branch} matches ${found}`);
  }
  if (event.type === 'ref-updated') {
    if (config['ignore-deletes'] && event.change.kind === 'ref' && event.change.newCommit === null) {
      return no(`${event.change.ref} was deleted and deletions are ignored`);
    }
    const found = firstMatch(config.ref, event.ref ?? '');
    if (config.ref.length > 0 && found === undefined)
      return no(`ref ${event.ref} does not match ${config.ref.join(' or ')}`);
    if (found !== undefined) said.push(`ref ${event.ref} matches ${found}`);
  }
  return { met: true, text: said.join(', ') };
}

function no(text: string): Verdict {
  return { met: false, text };
}

function firstMatch(sources: readonly string[], text: string): string | undefined {
  return sources.find(source => {
    const regex = compileRegex(source);
    return regex.kind === 'regex' && regex.test(text);
  });
}
