/**
 * Webhook → notification, or why it is of no interest. Pure; one file in `reduce/` for each family of events.
 *
 * Only the members of the payload named here are parsed.
 */
import { MOST_NOTIFICATION_BYTES, type Notification } from './notification.ts';
import { payloadNumber, payloadText } from './payload-fields.ts';
import { reduceCheckRun, reduceCheckSuite } from './reduce/check-run.ts';
import { reduceStatus } from './reduce/commit-status.ts';
import { reduceIssueComment } from './reduce/issue-comment.ts';
import { reduceMergeGroup } from './reduce/merge-group.ts';
import { reducePullRequest } from './reduce/pull-request.ts';
import { reduceReview, reduceReviewThread } from './reduce/pull-request-review.ts';
import { reducePush } from './reduce/push.ts';
import { reduceInstallation, reduceRepository, reduceRules } from './reduce/repository.ts';
import type { IntakeFacts, Reducer } from './reduced.ts';
import { readTopLevel } from './top-level.ts';

interface Family {
  readonly members: readonly string[];
  readonly reduce: Reducer;
  /** The event may have no repository. */
  readonly ofInstallation?: true;
}

const FAMILIES: { readonly [event: string]: Family } = {
  pull_request: { members: ['pull_request', 'label'], reduce: reducePullRequest },
  pull_request_review: { members: ['pull_request', 'review'], reduce: reduceReview },
  pull_request_review_thread: { members: ['pull_request'], reduce: reduceReviewThread },
  issue_comment: { members: ['issue', 'comment'], reduce: reduceIssueComment },
  status: { members: ['sha', 'context', 'updated_at'], reduce: reduceStatus },
  check_run: { members: ['check_run', 'requested_action'], reduce: reduceCheckRun },
  check_suite: { members: ['check_suite'], reduce: reduceCheckSuite },
  push: { members: ['ref', 'before', 'after'], reduce: reducePush },
  merge_group: { members: ['merge_group'], reduce: reduceMergeGroup },
  branch_protection_rule: { members: [], reduce: reduceRules },
  branch_protection_configuration: { members: [], reduce: reduceRules },
  repository_ruleset: { members: [], reduce: reduceRules, ofInstallation: true },
  repository: { members: ['changes'], reduce: reduceRepository },
  installation: { members: [], reduce: reduceInstallation, ofInstallation: true },
  installation_repositories: { members: [], reduce: reduceInstallation, ofInstallation: true },
};

/** What becomes of one webhook. */
export type Reduction =
  | { readonly kind: 'notification'; readonly notification: Notification }
  | { readonly kind: 'ignored'; readonly reason: string }
  /** Not what GitHub sends. */
  | { readonly kind: 'broken'; readonly reason: string };

/** @param event the header `X-GitHub-Event`. @param body its signature fits. */
export function reduceWebhook(event: string, body: Uint8Array, facts: IntakeFacts): Reduction {
  const family = Object.hasOwn(FAMILIES, event) ? FAMILIES[event] : undefined;
  if (family === undefined)
    return { kind: 'ignored', reason: `event ${JSON.stringify(event.slice(0, 60))} is of no interest` };
  const payload = readTopLevel(
    body,
    new Set(['action', 'repository', 'installation', 'sender', ...family.members]),
  );
  if (payload === undefined)
    return { kind: 'broken', reason: 'the body is not a JSON object of the form GitHub sends' };
  const repository = payloadText(payload, ['repository', 'full_name'], 201) ?? '';
  if (family.ofInstallation === undefined && !/^(?!\.)[\w.-]+\/(?!\.{1,2}$)[\w.-]+$/.test(repository))
    return { kind: 'ignored', reason: 'the payload has no valid repository.full_name' };
  const action = payloadText(payload, ['action'], 60) ?? '';
  const reduced = family.reduce(payload, action, facts);
  if (reduced.kind === 'ignored') return reduced;
  const notification: Notification = {
    event,
    action,
    repository,
    installation: payloadNumber(payload, ['installation', 'id']) ?? null,
    actor: payloadText(payload, ['sender', 'login'], 100) ?? 'ghost',
    at: reduced.at ?? null,
    about: reduced.about,
  };
  if (Buffer.byteLength(JSON.stringify(notification)) > MOST_NOTIFICATION_BYTES)
    return { kind: 'ignored', reason: `what it is about takes more than ${MOST_NOTIFICATION_BYTES} bytes` };
  return { kind: 'notification', notification };
}
