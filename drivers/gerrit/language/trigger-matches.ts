/** Whether a trigger takes an event: every key that is written has to match, of a list one entry, of approvals all. */
import { compiledOnce } from '../../../src/driver/compiled-once.ts';
import type { ReportingPipeline } from '../../../src/driver/mergeability.ts';
import { type CompiledPattern, compilePattern, type Pattern } from '../../../src/driver/pattern.ts';
import { parsedBefore } from '../../../src/driver/read-mapping.ts';
import type { Verdict } from '../../../src/driver/verdict.ts';
import type { ChangeRecord } from '../../../src/model/change.ts';
import type { TriggerEvent } from '../../../src/model/event.ts';
import type { Json } from '../../../src/model/job.ts';
import { type EventVote, type GerritEventFacts, ownTag, readGerritEventFacts } from './event-facts.ts';
import { gerritRejects, gerritRequirementMet } from './requirement-met.ts';
import { type GerritTrigger, parseGerritTrigger } from './trigger-config.ts';
import { voteText } from './vote-value.ts';

/** Finds the texts of an event that one key looks at; one that matches is enough. None: the event does not match. */
interface Filter {
  readonly key: string;
  readonly of: (event: TriggerEvent, facts: GerritEventFacts) => readonly (string | null | undefined)[];
  readonly entries: readonly CompiledPattern[];
}

interface CompiledTrigger {
  readonly config: GerritTrigger;
  readonly filters: readonly Filter[];
}

const compile = compiledOnce((value): CompiledTrigger => {
  const config = parsedBefore(parseGerritTrigger(value));
  const match = (patterns: readonly Pattern[]) => patterns.map(each => compilePattern(each, 'match'));
  const search = (patterns: readonly Pattern[]) => patterns.map(each => compilePattern(each, 'search'));
  const filters: readonly Filter[] = [
    { key: 'branch', of: ({ branch }) => [branch], entries: match(config.branch) },
    { key: 'ref', of: ({ ref }) => [ref], entries: match(config.ref) },
    {
      key: 'comment',
      of: (_, { comment, patchsetComments = [] }) => [comment, ...patchsetComments],
      entries: search(config.comment),
    },
    // An account that is not known passes no filter on accounts.
    { key: 'email', of: (_, { by }) => [by?.email], entries: search(config.email) },
    { key: 'username', of: (_, { by }) => [by?.username], entries: search(config.username) },
    { key: 'added', of: (_, { added = [] }) => added, entries: search(config.added) },
    { key: 'removed', of: (_, { removed = [] }) => removed, entries: search(config.removed) },
  ];
  return { config, filters: filters.filter(({ entries }) => entries.length > 0) };
});

/**
 * See `DriverConfigLanguage.matches`. Ages in its `require` and `reject` count at the time the event came in.
 *
 * @throws Error for a trigger that was not parsed before.
 */
export function gerritTriggerMatches(
  trigger: Json,
  event: TriggerEvent,
  record: ChangeRecord | undefined,
  taker: ReportingPipeline,
): Verdict {
  const { config, filters } = compile(trigger);
  const facts = readGerritEventFacts(event.facts);
  if (facts.tag === ownTag(taker.pipeline)) return no('it is the report of this pipeline itself');
  if (!config.event.some(each => each === event.type))
    return no(`event ${event.type} is not ${config.event.join(' or ')}`);
  if (config['ignore-deletes'] !== false && event.change.kind === 'ref' && event.change.newCommit === null)
    return no(`${event.change.ref} was deleted and deletions are ignored`);
  const said = [`event ${event.type}`];
  for (const { key, of, entries } of filters) {
    const found = of(event, facts).filter(text => typeof text === 'string');
    const matched = firstMatch(found, entries);
    if (matched === undefined) return no(mismatch(key, found, entries));
    said.push(`${key} ${shown(key, [matched.text])} matches ${matched.entry.text}`);
  }
  const wanted = [
    ...Object.entries(config.approval).map(vote => ({ vote, isChange: false })),
    ...Object.entries(config['approval-change']).map(vote => ({ vote, isChange: true })),
  ];
  for (const { vote, isChange } of wanted) {
    const missing = missingVote(vote, isChange, facts);
    if (missing !== undefined) return no(missing);
    said.push(`vote ${voteText(...vote)}`);
  }
  return conditionFails(config, event, record) ?? { met: true, text: said.join(', ') };
}

function firstMatch(
  texts: readonly string[],
  entries: readonly CompiledPattern[],
): { readonly text: string; readonly entry: CompiledPattern } | undefined {
  for (const text of texts) {
    const entry = entries.find(each => each.takes(text));
    if (entry !== undefined) return { text, entry };
  }
  return undefined;
}

/** @param isChange the event itself has to have brought the vote. */
function missingVote(
  [label, value]: readonly [string, number],
  isChange: boolean,
  { votes = [] }: GerritEventFacts,
): string | undefined {
  const found: EventVote | undefined = votes.find(each => each.label === label);
  if (found?.value === value && (!isChange || found.before !== value)) return undefined;
  const wanted = `wanted is ${voteText(label, value)}`;
  if (found === undefined) return `the event has no vote ${label}; ${wanted}`;
  if (found.value !== value) return `the vote is ${voteText(label, found.value)}; ${wanted}`;
  return `the vote ${voteText(label, value)} was there before`;
}

function conditionFails(
  { require, reject }: GerritTrigger,
  { receivedAt }: TriggerEvent,
  record: ChangeRecord | undefined,
): Verdict | undefined {
  if (require === undefined && reject === undefined) return undefined;
  if (record === undefined) return no('the change is not known');
  if (require !== undefined) {
    const verdict = gerritRequirementMet(require, record, receivedAt);
    if (!verdict.met) return verdict;
  }
  if (reject !== undefined) {
    const verdict = gerritRejects(reject, record, receivedAt);
    if (verdict.met) return no(`rejected: ${verdict.text}`);
  }
  return undefined;
}

function no(text: string): Verdict {
  return { met: false, text };
}

function mismatch(key: string, found: readonly string[], entries: readonly CompiledPattern[]): string {
  const wanted = entries.map(({ text }) => text).join(' or ');
  if (found.length === 0) return `the event has no ${key}; wanted is ${wanted}`;
  return `${key} ${shown(key, found)} does not match ${wanted}`;
}

/** Comments are long, and their text is the author's; addresses are not for public pages. */
function shown(key: string, texts: readonly string[]): string {
  if (key === 'comment') return 'text';
  return key === 'email' ? 'address' : texts.join(', ');
}
