/** Whether a trigger takes an event. */
import { compiledOnce } from '../../../src/driver/compiled-once.ts';
import type { ReportingPipeline } from '../../../src/driver/mergeability.ts';
import { type CompiledPattern, compilePattern, type Pattern } from '../../../src/driver/pattern.ts';
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
import { type GithubEventFacts, readGithubEventFacts } from './event-facts.ts';
import { githubRequirements } from './requirement-met.ts';
import { type GithubTrigger, parseGithubTrigger } from './trigger-config.ts';

interface CompiledTrigger {
  readonly config: GithubTrigger;
  readonly filters: readonly TriggerFilter<GithubEventFacts>[];
}

const compile = compiledOnce((value): CompiledTrigger => {
  const config = parsedBefore(parseGithubTrigger(value));
  const filters: CompiledTrigger['filters'] = [
    { key: 'branch', of: ({ branch }) => [branch], entries: patterns(config.branch, 'match') },
    { key: 'ref', of: ({ ref }) => [ref], entries: patterns(config.ref, 'match') },
    { key: 'comment', of: textOf('comment'), entries: patterns(config.comment, 'search') },
    { key: 'check', of: textOf('check'), entries: patterns(config.check, 'all') },
    { key: 'label', of: textOf('label'), entries: config.label.map(exactly) },
    { key: 'unlabel', of: (_, facts) => [unlabelOf(facts)], entries: config.unlabel.map(exactly) },
    { key: 'state', of: textOf('state'), entries: config.state.map(exactly) },
    { key: 'status', of: textOf('status'), entries: patterns(config.status, 'all') },
  ];
  return { config, filters };
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
  const mismatch = eventMismatch(config, event);
  if (mismatch !== undefined) return no(mismatch);
  const actions: readonly string[] = config.action;
  if (actions.length > 0 && !actions.includes(action))
    return no(`action ${action} is not ${actions.join(' or ')}`);
  const matched = matchFilters(filters, event, facts);
  if (!matched.met) return matched;
  const fails = conditionMismatch(config, githubRequirements, event, record);
  if (fails !== undefined) return no(fails);
  const text = [actionText(event, action), matched.text].filter(each => each !== '').join(', ');
  return { met: true, text };
}

/** Its check run that fails would take the change again without end. A re-run is a person's request, and no report. */
function isOwnReport(facts: GithubEventFacts, { tenant, pipeline }: ReportingPipeline): boolean {
  if (facts.action !== 'status' && facts.action !== 'completed') return false;
  return facts.ours === `${tenant}/${pipeline}`;
}

function no(text: string): Verdict {
  return { met: false, text };
}

function actionText({ type }: TriggerEvent, action: string): string {
  return action === type ? `event ${type}` : `event ${type} ${action}`;
}

/** One text among the facts of an event. */
function textOf(
  key: 'comment' | 'check' | 'label' | 'state' | 'status',
): TriggerFilter<GithubEventFacts>['of'] {
  return (_, facts) =>
    Object.entries<unknown>(facts).flatMap(([name, found]) => (name === key ? [String(found)] : []));
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
