/** Whether a trigger takes an event: of approvals all have to be there. */
import { compiledOnce } from '../../../src/driver/compiled-once.ts';
import type { ReportingPipeline } from '../../../src/driver/mergeability.ts';
import { compilePattern, type Pattern } from '../../../src/driver/pattern.ts';
import { parsedBefore } from '../../../src/driver/read-mapping.ts';
import {
  conditionMismatch,
  eventMismatch,
  matchFilters,
  type TriggerFilter,
} from '../../../src/driver/trigger-match.ts';
import type { Verdict } from '../../../src/driver/verdict.ts';
import type { ChangeRecord } from '../../../src/model/change.ts';
import type { TriggerEvent } from '../../../src/model/event.ts';
import type { Json } from '../../../src/model/job.ts';
import { type EventVote, type GerritEventFacts, ownTag, readGerritEventFacts } from './event-facts.ts';
import { gerritRequirements } from './requirement-met.ts';
import { type GerritTrigger, parseGerritTrigger } from './trigger-config.ts';
import { voteText } from './vote-value.ts';

interface CompiledTrigger {
  readonly config: GerritTrigger;
  readonly filters: readonly TriggerFilter<GerritEventFacts>[];
}

const compile = compiledOnce((value): CompiledTrigger => {
  const config = parsedBefore(parseGerritTrigger(value));
  const match = (patterns: readonly Pattern[]) => patterns.map(each => compilePattern(each, 'match'));
  const search = (patterns: readonly Pattern[]) => patterns.map(each => compilePattern(each, 'search'));
  const filters: CompiledTrigger['filters'] = [
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
  return { config, filters };
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
  const mismatch = eventMismatch(config, event);
  if (mismatch !== undefined) return no(mismatch);
  const matched = matchFilters(filters, event, facts);
  if (!matched.met) return matched;
  const wanted = [
    ...Object.entries(config.approval).map(vote => ({ vote, isChange: false })),
    ...Object.entries(config['approval-change']).map(vote => ({ vote, isChange: true })),
  ];
  const missing = wanted.map(({ vote, isChange }) => missingVote(vote, isChange, facts));
  const fails =
    missing.find(text => text !== undefined) ?? conditionMismatch(config, gerritRequirements, event, record);
  if (fails !== undefined) return no(fails);
  const votes = wanted.map(({ vote }) => `vote ${voteText(...vote)}`);
  const clauses = [`event ${event.type}`, matched.text, ...votes];
  return { met: true, text: clauses.filter(text => text !== '').join(', ') };
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

function no(text: string): Verdict {
  return { met: false, text };
}
