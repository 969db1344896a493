/**
 * Whether a pull request is what `require:` or `reject:` of a pipeline names, with the reason in one clause:
 *
 *     needs approved by write; eve has read
 */
import { firstTurn } from '../../../src/driver/age.ts';
import { type FlagQuestion, type WantedFlag, wantedFlags } from '../../../src/driver/change-flags.ts';
import { compiledOnce } from '../../../src/driver/compiled-once.ts';
import { type CompiledPattern, compilePattern } from '../../../src/driver/pattern.ts';
import { parsedBefore } from '../../../src/driver/read-mapping.ts';
import type { Verdict } from '../../../src/driver/verdict.ts';
import type { Nanoseconds } from '../../../src/lib/clock.ts';
import type { ChangeRecord } from '../../../src/model/change.ts';
import type { Json } from '../../../src/model/job.ts';
import type { ContextFact, PullFacts } from '../facts.ts';
import { pullFactsOf } from './pull-facts.ts';
import { type FLAGS, type GithubRequirement, parseGithubRequirement } from './requirement-config.ts';
import { type ReviewMatcher, reviewMatcher } from './review-requirement.ts';

interface Compiled {
  readonly statuses: readonly CompiledPattern[];
  readonly reviews: readonly ReviewMatcher[];
  readonly labels: readonly string[];
  readonly flags: readonly WantedFlag<Asked>[];
}

/** A pull request at one time. */
interface Asked {
  readonly record: ChangeRecord;
  readonly facts: PullFacts;
  readonly now: Nanoseconds;
}

const compile = compiledOnce((value): Compiled => {
  const requirement: GithubRequirement = parsedBefore(parseGithubRequirement(value));
  return {
    statuses: (requirement.status ?? []).map(pattern => compilePattern(pattern, 'all')),
    reviews: (requirement.review ?? []).map(reviewMatcher),
    labels: requirement.label ?? [],
    flags: wantedFlags(FLAG_QUESTIONS, requirement),
  };
});

/** See `DriverConfigLanguage.meets`. @throws Error for a requirement that was not parsed before. */
export function githubRequirementMet(requirement: Json, record: ChangeRecord, now: Nanoseconds): Verdict {
  const compiled = compile(requirement);
  if (isEmpty(compiled)) return { met: true, text: 'nothing is required' };
  const facts = pullFactsOf(record);
  if (facts === undefined) return { met: false, text: 'it is not a pull request' };
  const asked = { record, facts, now };
  const { statuses, reviews, labels, flags } = compiled;
  const missing =
    missingStatus(statuses, asked) ??
    reviews.map(review => missingReview(review, asked)).find(text => text !== undefined) ??
    missingLabel(labels, asked) ??
    flags.map(flag => flag.missing(asked)).find(text => text !== undefined);
  return missing === undefined ? { met: true, text: metText(compiled) } : { met: false, text: missing };
}

/** See `DriverConfigLanguage.rejects`. The update of a branch or tag is never rejected: it is nothing of what can be named. */
export function githubRejects(rejection: Json, record: ChangeRecord, now: Nanoseconds): Verdict {
  const { statuses, reviews, labels, flags } = compile(rejection);
  const facts = pullFactsOf(record);
  if (facts === undefined) return { met: false, text: 'it is not a pull request' };
  const asked = { record, facts, now };
  const found =
    foundStatus(statuses, facts) ??
    reviews.map(review => foundReview(review, asked)).find(text => text !== undefined) ??
    foundLabel(labels, facts) ??
    flags.map(flag => flag.found(asked)).find(text => text !== undefined);
  return found === undefined
    ? { met: false, text: 'nothing of what is rejected holds' }
    : { met: true, text: found };
}

/**
 * See `DriverConfigLanguage.recheckAt`: the first time at which `require` or `reject` goes over to the other verdict.
 */
export function githubRecheckAt(
  requirement: Json,
  record: ChangeRecord,
  now: Nanoseconds,
): Nanoseconds | null {
  const facts = pullFactsOf(record);
  if (facts === undefined) return null;
  const turns = compile(requirement).reviews.flatMap(review =>
    facts.reviews.flatMap(each => review.turningPoints(each)),
  );
  const verdicts = (at: Nanoseconds) =>
    [githubRequirementMet, githubRejects].map(judge => judge(requirement, record, at).met).join();
  return firstTurn(turns, now, verdicts);
}

function isEmpty({ statuses, reviews, labels, flags }: Compiled): boolean {
  return statuses.length + reviews.length + labels.length + flags.length === 0;
}

function metText({ statuses, reviews, labels, flags }: Compiled): string {
  return [
    ...statuses.slice(0, 1).map(() => 'the required status is there'),
    ...reviews.map(({ text }) => `it is ${text}`),
    ...labels.map(label => `it has the label ${label}`),
    ...flags.map(({ text }) => text),
  ].join(', ');
}

function missingStatus(statuses: readonly CompiledPattern[], { facts }: Asked): string | undefined {
  if (statuses.length === 0 || foundStatus(statuses, facts) !== undefined) return undefined;
  const wanted = statuses.map(({ text }) => text).join(' or ');
  const [context] = facts.contexts.filter(each => statuses.some(({ text }) => text.includes(each.name)));
  return `needs the status ${wanted}${context === undefined ? '' : `; there is ${statusText(context)}`}`;
}

function foundStatus(statuses: readonly CompiledPattern[], { contexts }: PullFacts): string | undefined {
  if (statuses.length === 0) return undefined;
  const found = contexts.map(statusText).find(text => statuses.some(status => status.takes(text)));
  return found && `it has the status ${found}`;
}

/** As Zuul writes it. */
function statusText({ by, name, state }: ContextFact): string {
  return `${by}:${name}:${state}`;
}

function missingReview(review: ReviewMatcher, { facts, now }: Asked): string | undefined {
  if (facts.reviews.some(each => review.matches(each, facts.head, now))) return undefined;
  const nearest = review.nearest(facts.reviews, facts.head, now);
  return `needs ${review.text}; ${nearest ?? 'there is no review'}`;
}

function foundReview(review: ReviewMatcher, { facts, now }: Asked): string | undefined {
  const found = facts.reviews.find(each => review.matches(each, facts.head, now));
  return found && `it is ${review.text}: the review of ${found.by}`;
}

function missingLabel(labels: readonly string[], { facts }: Asked): string | undefined {
  const missing = labels.filter(label => !facts.labels.includes(label));
  return missing.length === 0 ? undefined : `needs the label ${missing.join(', ')}`;
}

function foundLabel(labels: readonly string[], facts: PullFacts): string | undefined {
  const found = labels.find(label => facts.labels.includes(label));
  return found && `it has the label ${found}`;
}

const FLAG_QUESTIONS: { readonly [flag in (typeof FLAGS)[number]]: FlagQuestion<Asked> } = {
  open: { holds: ({ record }) => record.status === 'open', yes: 'it is open', no: 'it is not open' },
  merged: { holds: ({ record }) => record.status === 'merged', yes: 'it is merged', no: 'it is not merged' },
  'current-patchset': {
    holds: ({ record: { change }, facts }) => change.kind === 'change' && change.commit === facts.head,
    yes: 'it is the current patchset',
    no: 'it is not the current patchset',
  },
  draft: { holds: ({ facts }) => facts.draft, yes: 'it is a draft', no: 'it is not a draft' },
};
