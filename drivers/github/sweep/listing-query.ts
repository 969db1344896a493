/**
 * The query of a sweep: what changed last in some repositories, with as little as shows whether an event was missed. One repository
 * costs a hundredth of what reading its pull requests one by one would.
 */
import type { NodeList, ReviewNode } from '../reading/query/pull-state.ts';

/** Repositories of one query. */
export const REPOSITORIES_AT_ONCE = 10;
/** Pull requests of one repository, those updated last. */
export const PULLS_AT_ONCE = 30;
/** Branches of one repository: where there are as many there may be more, and git lists them (branches.ts). */
export const BRANCHES_AT_ONCE = 100;

/** Labels, and reviews, of one pull request. */
export const LABELS_AT_ONCE = 50;
export const REVIEWS_AT_ONCE = 30;

/** Runs in progress of our App on one head: a pull request has one for each of its pipelines. */
const RUNS_AT_ONCE = 20;

const FIELDS = `fragment Swept on Repository {
  nameWithOwner
  pullRequests(first: ${PULLS_AT_ONCE}, orderBy: { field: UPDATED_AT, direction: DESC }) {
    nodes {
      number state isDraft updatedAt createdAt baseRefName headRefOid
      labels(first: ${LABELS_AT_ONCE}) { nodes { name } }
      latestOpinionatedReviews(first: ${REVIEWS_AT_ONCE}) {
        nodes { state submittedAt authorAssociation authorCanPushToRepository author { login } commit { oid } }
      }
      commits(last: 1) {
        nodes {
          commit {
            oid
            statusCheckRollup { state }
            checkSuites(first: 1, filterBy: { appId: $app }) @include(if: $ofApp) {
              nodes {
                checkRuns(first: ${RUNS_AT_ONCE}, filterBy: { status: IN_PROGRESS }) { nodes { databaseId externalId } }
              }
            }
          }
        }
      }
    }
  }
  refs(refPrefix: "refs/heads/", first: ${BRANCHES_AT_ONCE}) {
    nodes { name target { oid } }
  }
}`;

/**
 * A query for that many repositories: variables `owner0`, `name0`, …, `ofApp` and `app`, whose runs in progress are listed; answers `r0`, ….
 */
export function listingQuery(repositories: number): string {
  const each = Array.from({ length: repositories }, (_, index) => index);
  const variables = each.map(index => `$owner${index}: String!, $name${index}: String!`).join(', ');
  const fields = each.map(
    index => `  r${index}: repository(owner: $owner${index}, name: $name${index}) { ...Swept }`,
  );
  return `query Sweep($ofApp: Boolean!, $app: Int, ${variables}) {\n${fields.join('\n')}\n}\n${FIELDS}`;
}

/** A check run of our App that is in progress. */
export interface ListedRun {
  readonly databaseId: number | null;
  readonly externalId: string | null;
}

/** A pull request of a listing. */
export interface ListedPull {
  readonly number: number;
  readonly state: 'OPEN' | 'CLOSED' | 'MERGED';
  readonly isDraft: boolean;
  readonly updatedAt: string;
  readonly createdAt: string;
  readonly baseRefName: string;
  readonly headRefOid: string;
  readonly labels: NodeList<{ readonly name: string }> | null;
  readonly latestOpinionatedReviews: NodeList<ReviewNode> | null;
  readonly commits: NodeList<{
    readonly commit: {
      readonly oid: string;
      readonly statusCheckRollup: { readonly state: string } | null;
      /** An App has one for a commit. Absent: none was asked for. */
      readonly checkSuites?: NodeList<{ readonly checkRuns: NodeList<ListedRun> | null }> | null;
    };
  }>;
}

/** A repository of a listing. */
export interface ListedRepository {
  readonly nameWithOwner: string;
  readonly pullRequests: NodeList<ListedPull>;
  readonly refs: NodeList<{ readonly name: string; readonly target: { readonly oid: string } | null }> | null;
}

/** The answer to {@link listingQuery}; null: GitHub shows no such repository. */
export type ListingAnswer = { readonly [alias: string]: ListedRepository | null };
