/** Required checks that are not there, or not good. The same name may be required in several places, and of one App only. */
import type { ContextFact, RequiredCheck } from '../facts.ts';
import type { LandingCase } from './landing-case.ts';

/** What GitHub takes for success: a check that was skipped or neutral holds nothing up. */
const GOOD: ReadonlySet<string> = new Set(['success', 'neutral', 'skipped']);

/** Names in one sentence. */
const MOST_NAMED = 5;

/** @returns which check is missing, with the rule that requires it; undefined: none. */
export function missingChecks(asked: LandingCase): string | undefined {
  const { facts, place } = asked;
  if (facts.rules === null) return undefined;
  const missing = facts.rules.checks.flatMap(check => {
    const lacks = isOurs(check, asked) ? undefined : lack(check, facts.contexts);
    return lacks === undefined ? [] : [`${check.name} (${lacks}; ${check.rule})`];
  });
  if (missing.length === 0) return undefined;
  const more = missing.length > MOST_NAMED ? ` and ${missing.length - MOST_NAMED} more` : '';
  const named = missing.slice(0, MOST_NAMED).join(', ');
  return `${place} requires the check${missing.length === 1 ? '' : 's'} ${named}${more}`;
}

/** The pipeline gives it, and GitHub takes it from us. */
function isOurs({ name, app }: RequiredCheck, { votes, facts }: LandingCase): boolean {
  return (
    votes.contexts.includes(name) && (app === null || facts.ourApp === undefined || app === facts.ourApp)
  );
}

function lack({ name, app }: RequiredCheck, contexts: readonly ContextFact[]): string | undefined {
  const found = contexts.filter(each => each.name === name && (app === null || each.app === app));
  if (found.length === 0) return app === null ? 'missing' : `missing from App ${app}`;
  const bad = found.find(({ state }) => !GOOD.has(state));
  return bad && `${bad.state} by ${bad.by}`;
}
