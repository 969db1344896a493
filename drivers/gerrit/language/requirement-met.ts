/**
 * Whether a change is what `require:` or `reject:` of a pipeline names, with the reason in one clause:
 *
 *     needs Verified +1 by zuul; there is Verified -1 by bob
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
import type { GerritFacts } from '../facts.ts';
import { type ApprovalMatcher, approvalMatcher, approvalText } from './approval-requirement.ts';
import { gerritFactsOf } from './change-facts.ts';
import { type CHANGE_FLAGS, type GerritRequirement, parseGerritRequirement } from './requirement-config.ts';

interface Compiled {
  readonly approvals: readonly ApprovalMatcher[];
  readonly statuses: readonly string[];
  readonly hashtags: readonly CompiledPattern[];
  readonly flags: readonly WantedFlag<Asked>[];
}

/** A change at one time. */
interface Asked {
  readonly record: ChangeRecord;
  readonly facts: GerritFacts;
  readonly now: Nanoseconds;
}

const compile = compiledOnce((value): Compiled => {
  const requirement: GerritRequirement = parsedBefore(parseGerritRequirement(value));
  return {
    approvals: (requirement.approval ?? []).map(approvalMatcher),
    statuses: requirement.status ?? [],
    hashtags: (requirement.hashtags ?? []).map(pattern => compilePattern(pattern, 'search')),
    flags: wantedFlags(FLAG_QUESTIONS, requirement),
  };
});

/** See `DriverConfigLanguage.meets`. @throws Error for a requirement that was not parsed before. */
export function gerritRequirementMet(requirement: Json, record: ChangeRecord, now: Nanoseconds): Verdict {
  const compiled = compile(requirement);
  const { approvals, statuses, hashtags, flags } = compiled;
  if (approvals.length + statuses.length + hashtags.length + flags.length === 0)
    return { met: true, text: 'nothing is required' };
  const facts = gerritFactsOf(record);
  if (facts === undefined) return { met: false, text: 'it is not a change' };
  const asked = { record, facts, now };
  const missing =
    flags.map(flag => flag.missing(asked)).find(text => text !== undefined) ??
    missingStatus(statuses, facts) ??
    hashtags.map(hashtag => missingHashtag(hashtag, facts)).find(text => text !== undefined) ??
    approvals.map(approval => missingApproval(approval, asked)).find(text => text !== undefined);
  return missing === undefined ? { met: true, text: metText(compiled) } : { met: false, text: missing };
}

/** See `DriverConfigLanguage.rejects`. The update of a branch or tag is never rejected: it is nothing of what can be named. */
export function gerritRejects(rejection: Json, record: ChangeRecord, now: Nanoseconds): Verdict {
  const { approvals, statuses, hashtags, flags } = compile(rejection);
  const facts = gerritFactsOf(record);
  if (facts === undefined) return { met: false, text: 'it is not a change' };
  const asked = { record, facts, now };
  const found =
    flags.map(flag => flag.found(asked)).find(text => text !== undefined) ??
    (statuses.includes(facts.status) ? `it is ${facts.status}` : undefined) ??
    foundHashtag(hashtags, facts) ??
    approvals.map(approval => foundApproval(approval, asked)).find(text => text !== undefined);
  return found === undefined
    ? { met: false, text: 'nothing of what is rejected holds' }
    : { met: true, text: found };
}

/** See `DriverConfigLanguage.recheckAt`: the first time at which `require` or `reject` goes over to the other verdict. */
export function gerritRecheckAt(
  requirement: Json,
  record: ChangeRecord,
  now: Nanoseconds,
): Nanoseconds | null {
  const facts = gerritFactsOf(record);
  if (facts === undefined) return null;
  const turns = compile(requirement).approvals.flatMap(approval =>
    facts.approvals.flatMap(each => approval.turningPoints(each)),
  );
  const verdicts = (at: Nanoseconds) =>
    [gerritRequirementMet, gerritRejects].map(judge => judge(requirement, record, at).met).join();
  return firstTurn(turns, now, verdicts);
}

function metText({ approvals, statuses, hashtags, flags }: Compiled): string {
  return [
    ...flags.map(({ text }) => text),
    ...statuses.slice(0, 1).map(() => `it is ${statuses.join(' or ')}`),
    ...hashtags.map(({ text }) => `it has a hashtag ${text}`),
    ...approvals.map(({ text }) => `it has ${text}`),
  ].join(', ');
}

function missingStatus(statuses: readonly string[], { status }: GerritFacts): string | undefined {
  if (statuses.length === 0 || statuses.includes(status)) return undefined;
  return `needs the status ${statuses.join(' or ')}; it is ${status}`;
}

function missingHashtag(hashtag: CompiledPattern, { hashtags }: GerritFacts): string | undefined {
  return hashtags.some(each => hashtag.takes(each)) ? undefined : `needs a hashtag ${hashtag.text}`;
}

function foundHashtag(patterns: readonly CompiledPattern[], { hashtags }: GerritFacts): string | undefined {
  const found = hashtags.find(each => patterns.some(pattern => pattern.takes(each)));
  return found && `it has the hashtag ${found}`;
}

function missingApproval(approval: ApprovalMatcher, { facts, now }: Asked): string | undefined {
  if (facts.approvals.some(each => approval.matches(each, now))) return undefined;
  const nearest = approval.nearest(facts.approvals, now);
  return `needs ${approval.text}; ${nearest === undefined ? 'there is no such vote' : `there is ${nearest}`}`;
}

function foundApproval(approval: ApprovalMatcher, { facts, now }: Asked): string | undefined {
  const found = facts.approvals.find(each => approval.matches(each, now));
  return found && `it has ${approvalText(found)}`;
}

const FLAG_QUESTIONS: { readonly [flag in (typeof CHANGE_FLAGS)[number]]: FlagQuestion<Asked> } = {
  open: { holds: ({ facts }) => facts.status === 'NEW', yes: 'it is open', no: 'it is not open' },
  'current-patchset': {
    holds: ({ record: { change }, facts }) => change.kind === 'change' && change.commit === facts.revision,
    yes: 'it is the current patchset',
    no: 'it is not the current patchset',
  },
  wip: {
    holds: ({ facts }) => facts.wip,
    yes: 'it is work in progress',
    no: 'it is not work in progress',
  },
};
