/**
 * Webhook → notification, or why it is of no interest. Pure; one file in `reduce/` for each family of events.
 *
 * Only the fields of the payload that are named here are read.
 */
import { MOST_NOTIFICATION_BYTES, type Notification } from './notification.ts';
import { type PayloadFields, payloadFields, readPayload } from './payload.ts';
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

interface Family {
  readonly fields: PayloadFields;
  readonly reduce: Reducer;
  /** The event may have no repository. */
  readonly ofInstallation?: true;
}

/** Of every event. */
const COMMON = ['action', 'repository.full_name', 'installation.id', 'sender.login'];

/** @param fields those of the payload that `reduce` reads. */
function family(reduce: Reducer, ...fields: readonly string[]): Family {
  return { reduce, fields: payloadFields([...COMMON, ...fields]) };
}

const PULL = ['pull_request.number', 'pull_request.updated_at', 'pull_request.base.ref'];
const FAMILIES: { readonly [event: string]: Family } = {
  pull_request: family(
    reducePullRequest,
    ...PULL,
    'pull_request.merged',
    'pull_request.head.sha',
    'label.name',
  ),
  pull_request_review: family(reduceReview, ...PULL, 'review.id', 'review.state', 'review.submitted_at'),
  pull_request_review_thread: family(reduceReviewThread, 'pull_request.number'),
  issue_comment: family(
    reduceIssueComment,
    'issue.number',
    'issue.pull_request',
    'comment.id',
    'comment.body',
    'comment.created_at',
  ),
  status: family(reduceStatus, 'sha', 'context', 'updated_at'),
  check_run: family(
    reduceCheckRun,
    'check_run.head_sha',
    'check_run.name',
    'check_run.id',
    'check_run.app.id',
    'check_run.external_id',
    'check_run.started_at',
    'check_run.completed_at',
    'check_run.check_suite.head_branch',
    'requested_action.identifier',
  ),
  check_suite: family(reduceCheckSuite, 'check_suite.head_sha', 'check_suite.app.id'),
  push: family(reducePush, 'ref', 'before', 'after', 'repository.pushed_at'),
  merge_group: family(
    reduceMergeGroup,
    'merge_group.head_ref',
    'merge_group.head_sha',
    'merge_group.base_ref',
    'merge_group.base_sha',
  ),
  branch_protection_rule: family(reduceRules),
  branch_protection_configuration: family(reduceRules),
  repository_ruleset: { ...family(reduceRules), ofInstallation: true },
  repository: family(
    reduceRepository,
    'changes.repository.name.from',
    'changes.owner.from.user.login',
    'changes.owner.from.organization.login',
  ),
  installation: { ...family(reduceInstallation), ofInstallation: true },
  installation_repositories: { ...family(reduceInstallation), ofInstallation: true },
};

/** What becomes of one webhook. */
export type Reduction =
  | { readonly kind: 'notification'; readonly notification: Notification }
  | { readonly kind: 'ignored'; readonly reason: string }
  /** Not what GitHub sends. */
  | { readonly kind: 'broken'; readonly reason: string };

/** @param event the header `X-GitHub-Event`. @param body its signature fits. */
export function reduceWebhook(event: string, body: string, facts: IntakeFacts): Reduction {
  const known = Object.hasOwn(FAMILIES, event) ? FAMILIES[event] : undefined;
  if (known === undefined)
    return { kind: 'ignored', reason: `event ${JSON.stringify(event.slice(0, 60))} is of no interest` };
  const payload = readPayload(body, known.fields);
  if (payload === undefined)
    return { kind: 'broken', reason: 'the body is not a JSON object of the form GitHub sends' };
  const repository = payloadText(payload, 'repository.full_name', 201) ?? '';
  if (known.ofInstallation === undefined && !/^(?!\.)[\w.-]+\/(?!\.{1,2}$)[\w.-]+$/.test(repository))
    return { kind: 'ignored', reason: 'the payload has no valid repository.full_name' };
  const action = payloadText(payload, 'action', 60) ?? '';
  const reduced = known.reduce(payload, action, facts);
  if (reduced.kind === 'ignored') return reduced;
  const notification: Notification = {
    event,
    action,
    repository,
    installation: payloadNumber(payload, 'installation.id') ?? null,
    actor: payloadText(payload, 'sender.login', 100) ?? 'ghost',
    at: reduced.at ?? null,
    about: reduced.about,
  };
  if (Buffer.byteLength(JSON.stringify(notification)) > MOST_NOTIFICATION_BYTES)
    return { kind: 'ignored', reason: `what it is about takes more than ${MOST_NOTIFICATION_BYTES} bytes` };
  return { kind: 'notification', notification };
}
