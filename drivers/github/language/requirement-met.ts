/**
 * Whether a pull request is what `require:` or `reject:` of a pipeline names, with the reason in one clause:
 *
 *     needs approved by write; eve has read
 */
import { type FlagQuestion, wantedFlags } from '../../../src/driver/change-flags.ts';
import { type CompiledPattern, compilePattern } from '../../../src/driver/pattern.ts';
import { parsedBefore } from '../../../src/driver/read-mapping.ts';
import {
  type AskedChange,
  type RequirementClause,
  requirementJudge,
} from '../../../src/driver/requirement.ts';
import type { ContextFact, PullFacts } from '../facts.ts';
import { pullFactsOf } from './pull-facts.ts';
import { type FLAGS, type GithubRequirement, parseGithubRequirement } from './requirement-config.ts';
import { type ReviewMatcher, reviewMatcher } from './review-requirement.ts';

type Asked = AskedChange<PullFacts>;
type Clause = RequirementClause<Asked>;

/** Part of `githubLanguages`. */
export const githubRequirements = requirementJudge<PullFacts>({
  compile(value) {
    const requirement: GithubRequirement = parsedBefore(parseGithubRequirement(value));
    const { status = [], label = [] } = requirement;
    const reviews = (requirement.review ?? []).map(reviewMatcher);
    return {
      clauses: [
        ...(status.length === 0 ? [] : [statusClause(status.map(pattern => compilePattern(pattern, 'all')))]),
        ...reviews.map(reviewClause),
        ...(label.length === 0 ? [] : [labelsClause(label)]),
        ...wantedFlags(FLAG_QUESTIONS, requirement),
      ],
      turningPoints: facts =>
        reviews.flatMap(review => facts.reviews.flatMap(each => review.turningPoints(each))),
    };
  },
  factsOf: pullFactsOf,
  without: 'it is not a pull request',
});

/** One of them is enough. */
function statusClause(statuses: readonly CompiledPattern[]): Clause {
  const found = ({ facts }: Asked) => {
    const text = facts.contexts.map(statusText).find(each => statuses.some(status => status.takes(each)));
    return text && `it has the status ${text}`;
  };
  return {
    text: 'the required status is there',
    found,
    missing(asked) {
      if (found(asked) !== undefined) return undefined;
      const wanted = statuses.map(({ text }) => text).join(' or ');
      const [context] = asked.facts.contexts.filter(each =>
        statuses.some(({ text }) => text.includes(each.name)),
      );
      return `needs the status ${wanted}${context === undefined ? '' : `; there is ${statusText(context)}`}`;
    },
  };
}

/** As Zuul writes it. */
function statusText({ by, name, state }: ContextFact): string {
  return `${by}:${name}:${state}`;
}

function reviewClause(review: ReviewMatcher): Clause {
  const matching = ({ facts, now }: Asked) =>
    facts.reviews.find(each => review.matches(each, facts.head, now));
  return {
    text: `it is ${review.text}`,
    missing(asked) {
      if (matching(asked) !== undefined) return undefined;
      const { facts, now } = asked;
      const nearest = review.nearest(facts.reviews, facts.head, now);
      return `needs ${review.text}; ${nearest ?? 'there is no review'}`;
    },
    found(asked) {
      const found = matching(asked);
      return found && `it is ${review.text}: the review of ${found.by}`;
    },
  };
}

/** All of them have to be there. */
function labelsClause(wanted: readonly string[]): Clause {
  return {
    text: wanted.map(label => `it has the label ${label}`).join(', '),
    missing({ facts: { labels } }) {
      const missing = wanted.filter(label => !labels.includes(label));
      return missing.length === 0 ? undefined : `needs the label ${missing.join(', ')}`;
    },
    found({ facts: { labels } }) {
      const found = wanted.find(label => labels.includes(label));
      return found && `it has the label ${found}`;
    },
  };
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
