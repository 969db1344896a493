/** Whether a trigger takes an event: every key that is written has to match, of its list one entry. */
import { compiledOnce } from '../../../src/driver/compiled-once.ts';
import type { ReportingPipeline } from '../../../src/driver/mergeability.ts';
import { type CompiledPattern, compilePattern, type Pattern } from '../../../src/driver/pattern.ts';
import { parsedBefore } from '../../../src/driver/read-mapping.ts';
import type { Verdict } from '../../../src/driver/verdict.ts';
import type { ChangeRecord } from '../../../src/model/change.ts';
import type { TriggerEvent } from '../../../src/model/event.ts';
import type { Json } from '../../../src/model/job.ts';
import { type GithubEventFacts, readGithubEventFacts } from './event-facts.ts';
import { githubRejects, githubRequirementMet } from './requirement-met.ts';
import { type GithubTrigger, parseGithubTrigger } from './trigger-config.ts';

/** Finds what of an event one key looks at; undefined: the event has none, and does not match. */
interface Filter {
  readonly key: string;
  readonly of: (event: TriggerEvent, facts: GithubEventFacts) => string | undefined;
  readonly entries: readonly CompiledPattern[];
}

interface CompiledTrigger {
  readonly config: GithubTrigger;
  readonly filters: readonly Filter[];
}

const compile = compiledOnce((value): CompiledTrigger => {
  const config = parsedBefore(parseGithubTrigger(value));
  const filters: readonly Filter[] = [
    { key: 'branch', of: ({ branch }) => branch ?? undefined, entries: patterns(config.branch, 'match') },
    { key: 'ref', of: ({ ref }) => ref ?? undefined, entries: patterns(config.ref, 'match') },
    {
      key: 'comment',
      of: (_, facts) => textOf(facts, 'comment'),
      entries: patterns(config.comment, 'search'),
    },
    { key: 'check', of: (_, facts) => textOf(facts, 'check'), entries: patterns(config.check, 'all') },
    { key: 'label', of: (_, facts) => textOf(facts, 'label'), entries: config.label.map(exactly) },
    { key: 'unlabel', of: (_, facts) => unlabelOf(facts), entries: config.unlabel.map(exactly) },
    { key: 'state', of: (_, facts) => textOf(facts, 'state'), entries: config.state.map(exactly) },
    { key: 'status', of: (_, facts) => textOf(facts, 'status'), entries: patterns(config.status, 'all') },
  ];
  return { config, filters: filters.filter(({ entries }) => entries.length > 0) };
});

/**
 * See `DriverConfigLanguage.matches`. Ages in its `require` and `reject` count at the time the event came in.
 *
 * @throws Error for a trigger that was not parsed before.
 */
export function githubTriggerMatches(
  trigger: Json,
  event: TriggerEvent,
  record: ChangeRecord | undefined,
  taker: ReportingPipeline,
): Verdict {
  const { config, filters } = compile(trigger);
  const facts = readGithubEventFacts(event.facts);
  const { action } = facts;
  if (isOwnReport(facts, taker)) return no('it is the report of this pipeline itself');
  if (!config.event.some(each => each === event.type))
    return no(`event ${event.type} is not ${config.event.join(' or ')}`);
  const actions: readonly string[] = config.action;
  if (actions.length > 0 && !actions.includes(action))
    return no(`action ${action} is not ${actions.join(' or ')}`);
  if (config['ignore-deletes'] !== false && event.change.kind === 'ref' && event.change.newCommit === null)
    return no(`${event.change.ref} was deleted and deletions are ignored`);
  const said = [actionText(event, action)];
  for (const { key, of, entries } of filters) {
    const found = of(event, facts);
    const matched = found === undefined ? undefined : entries.find(entry => entry.takes(found));
    if (found === undefined || matched === undefined) return no(mismatch(key, found, entries));
    said.push(`${key} ${shown(key, found)} matches ${matched.text}`);
  }
  return conditionFails(config, event, record) ?? { met: true, text: said.join(', ') };
}

/** Its check run that fails would take the change again without end. A re-run is a person's request, and no report. */
function isOwnReport(facts: GithubEventFacts, { tenant, pipeline }: ReportingPipeline): boolean {
  if (facts.action !== 'status' && facts.action !== 'completed') return false;
  return facts.ours === `${tenant}/${pipeline}`;
}

function conditionFails(
  { require, reject }: GithubTrigger,
  { receivedAt }: TriggerEvent,
  record: ChangeRecord | undefined,
): Verdict | undefined {
  if (require === undefined && reject === undefined) return undefined;
  if (record === undefined) return no('the change is not known');
  if (require !== undefined) {
    const verdict = githubRequirementMet(require, record, receivedAt);
    if (!verdict.met) return verdict;
  }
  if (reject !== undefined) {
    const verdict = githubRejects(reject, record, receivedAt);
    if (verdict.met) return no(`rejected: ${verdict.text}`);
  }
  return undefined;
}

function no(text: string): Verdict {
  return { met: false, text };
}

function actionText({ type }: TriggerEvent, action: string): string {
  return action === type ? `event ${type}` : `event ${type} ${action}`;
}

function mismatch(key: string, found: string | undefined, entries: readonly CompiledPattern[]): string {
  const wanted = entries.map(({ text }) => text).join(' or ');
  if (found === undefined) return `the event has no ${key}; wanted is ${wanted}`;
  return `${key} ${shown(key, found)} does not match ${wanted}`;
}

/** Comments are long, and their text is the author's. */
function shown(key: string, text: string): string {
  return key === 'comment' ? 'text' : text;
}

function textOf(
  facts: GithubEventFacts,
  key: 'comment' | 'check' | 'label' | 'state' | 'status',
): string | undefined {
  const found: unknown = Object.entries(facts).find(([name]) => name === key)?.[1];
  return typeof found === 'string' ? found : undefined;
}

function unlabelOf(facts: GithubEventFacts): string | undefined {
  return facts.action === 'unlabeled' ? facts.label : undefined;
}

function patterns(
  sources: readonly Pattern[],
  anchoring: Parameters<typeof compilePattern>[1],
): readonly CompiledPattern[] {
  return sources.map(source => compilePattern(source, anchoring));
}

function exactly(name: string): CompiledPattern {
  return { text: name, takes: text => text === name };
}
