/**
 * What the GitHub App may do, and why: one table for the App manifest (`gatehouse github create-app`), the tokens the driver asks for, and
 * the documentation.
 *
 * Sources: GitHub's lists "Permissions required for GitHub Apps" and "Webhook events and payloads".
 */

/** One permission of a GitHub App. */
export interface AppPermission {
  /** GitHub's name of it in manifests, tokens and installations. */
  readonly name: string;
  readonly level: 'read' | 'write';
  /** What fails without it: one clause that completes "needed to …". */
  readonly why: string;
}

/** All permissions the driver uses. The App may do without those that its pipelines and rules do not need. */
export const APP_PERMISSIONS: readonly AppPermission[] = [
  { name: 'metadata', level: 'read', why: 'see the repository at all' },
  { name: 'administration', level: 'read', why: 'read branch protection before a change is tested' },
  { name: 'checks', level: 'write', why: 'show each pipeline as a check run with its jobs' },
  { name: 'contents', level: 'write', why: 'fetch changes and land them' },
  { name: 'issues', level: 'write', why: 'comment, react to comments and set labels' },
  { name: 'merge_queues', level: 'read', why: "test merge groups of GitHub's own queue" },
  { name: 'pull_requests', level: 'write', why: 'read and review pull requests, and merge them' },
  { name: 'statuses', level: 'write', why: 'set and read commit statuses' },
  { name: 'workflows', level: 'write', why: 'land changes to files below .github/workflows' },
];

/** Webhook events the App subscribes to. GitHub sends `installation` and `installation_repositories` to every App. */
export const APP_EVENTS: readonly string[] = [
  'branch_protection_rule',
  'check_run',
  'check_suite',
  'create',
  'delete',
  'issue_comment',
  'merge_group',
  'pull_request',
  'pull_request_review',
  'pull_request_review_thread',
  'push',
  'repository',
  'repository_ruleset',
  'status',
];
