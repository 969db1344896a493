/**
 * Whether a change is what `require:` or `reject:` of a pipeline names, with the reason in one clause:
 *
 *     needs Verified +1 by zuul; there is Verified -1 by bob
 */
import { type FlagQuestion, wantedFlags } from '../../../src/driver/change-flags.ts';
import { type CompiledPattern, compilePattern } from '../../../src/driver/pattern.ts';
import { parsedBefore } from '../../../src/driver/read-mapping.ts';
import {
  type AskedChange,
  type RequirementClause,
  requirementJudge,
} from '../../../src/driver/requirement.ts';
import type { GerritFacts } from '../facts.ts';
import { type ApprovalMatcher, approvalMatcher, approvalText } from './approval-requirement.ts';
import { gerritFactsOf } from './change-facts.ts';
import { type CHANGE_FLAGS, type GerritRequirement, parseGerritRequirement } from './requirement-config.ts';

type Asked = AskedChange<GerritFacts>;
type Clause = RequirementClause<Asked>;

/** Part of `gerritLanguages`. */
export const gerritRequirements = requirementJudge<GerritFacts>({
  compile(value) {
    const requirement: GerritRequirement = parsedBefore(parseGerritRequirement(value));
    const { status = [], hashtags = [] } = requirement;
    const approvals = (requirement.approval ?? []).map(approvalMatcher);
    return {
      clauses: [
        ...wantedFlags(FLAG_QUESTIONS, requirement),
        ...(status.length === 0 ? [] : [statusClause(status)]),
        ...(hashtags.length === 0
          ? []
          : [hashtagsClause(hashtags.map(pattern => compilePattern(pattern, 'search')))]),
        ...approvals.map(approvalClause),
      ],
      turningPoints: facts =>
        approvals.flatMap(approval => facts.approvals.flatMap(each => approval.turningPoints(each))),
    };
  },
  factsOf: gerritFactsOf,
  without: 'it is not a change',
});

function statusClause(statuses: readonly string[]): Clause {
  const wanted = statuses.join(' or ');
  return {
    text: `it is ${wanted}`,
    missing: ({ facts: { status } }) =>
      statuses.includes(status) ? undefined : `needs the status ${wanted}; it is ${status}`,
    found: ({ facts: { status } }) => (statuses.includes(status) ? `it is ${status}` : undefined),
  };
}

/** Each of them has to be found in a hashtag. */
function hashtagsClause(patterns: readonly CompiledPattern[]): Clause {
  return {
    text: patterns.map(({ text }) => `it has a hashtag ${text}`).join(', '),
    missing({ facts: { hashtags } }) {
      const missing = patterns.find(pattern => !hashtags.some(each => pattern.takes(each)));
      return missing && `needs a hashtag ${missing.text}`;
    },
    found({ facts: { hashtags } }) {
      const found = hashtags.find(each => patterns.some(pattern => pattern.takes(each)));
      return found && `it has the hashtag ${found}`;
    },
  };
}

function approvalClause(approval: ApprovalMatcher): Clause {
  return {
    text: `it has ${approval.text}`,
    missing({ facts, now }) {
      if (facts.approvals.some(each => approval.matches(each, now))) return undefined;
      const nearest = approval.nearest(facts.approvals, now);
      return `needs ${approval.text}; ${nearest === undefined ? 'there is no such vote' : `there is ${nearest}`}`;
    },
    found({ facts, now }) {
      const found = facts.approvals.find(each => approval.matches(each, now));
      return found && `it has ${approvalText(found)}`;
    },
  };
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
