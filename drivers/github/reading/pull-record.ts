/** A pull request as a change record. Pure. */
import type { Nanoseconds } from '../../../src/lib/clock.ts';
import {
  type ChangeRecord,
  type ChangeStatus,
  changeKey,
  type ProposedChange,
} from '../../../src/model/change.ts';
import type { Json } from '../../../src/model/job.ts';
import { boundedMergeText } from '../../../src/model/merge-text.ts';
import { type ProjectKey, parseCommitId } from '../../../src/model/project.ts';
import type { PullFacts } from '../facts.ts';
import { pullDependsOn } from './depends-lines.ts';
import { loginOf, titleOf } from './pull-facts.ts';
import type { PullNode } from './query/pull-state.ts';

/** The record of a pull request. */
export type PullRecord = ChangeRecord & { readonly change: ProposedChange };

/** All `Depends-On` lines are left to the core, which knows every connection. */
export function pullRecord(
  project: ProjectKey,
  pull: PullNode,
  facts: PullFacts,
  now: Nanoseconds,
): PullRecord {
  const id = String(pull.number);
  return {
    change: {
      kind: 'change',
      key: changeKey(project, id),
      project,
      branch: pull.baseRefName,
      id,
      patchset: pull.headRefOid,
      commit: parseCommitId(pull.headRefOid),
      ref: `refs/pull/${id}/head`,
      subject: titleOf(pull),
      owner: loginOf(pull.author),
      mergeText: boundedMergeText({ title: pull.title, body: pull.body, reviewers: approvers(facts) }),
      ...(pull.url.startsWith('http') ? { url: pull.url } : {}),
    },
    status: STATUS[pull.state],
    dependsOn: [],
    unresolvedDependencies: pullDependsOn(pull.body),
    facts: factsJson(facts),
    fetchedAt: now,
  };
}

/** Of people who may write. */
function approvers({ reviews }: PullFacts): readonly string[] {
  return reviews
    .filter(({ state, permission }) => state === 'approved' && permission !== 'read')
    .map(({ by, email }) => (email === null ? by : `${by} <${email}>`));
}

const STATUS: { readonly [state in PullNode['state']]: ChangeStatus } = {
  OPEN: 'open',
  CLOSED: 'abandoned',
  MERGED: 'merged',
};

function factsJson(facts: PullFacts): Json {
  return JSON.parse(JSON.stringify(facts));
}
