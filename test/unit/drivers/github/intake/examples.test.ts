/** Every example payload that GitHub publishes goes through the intake. */
import { createRequire } from 'node:module';
import { describe, expect, test } from 'vitest';
import {
  notificationJson,
  readGithubNotification,
} from '../../../../../drivers/github/intake/notification.ts';
import { reduceWebhook } from '../../../../../drivers/github/intake/reduce.ts';

interface Examples {
  readonly name: string;
  readonly examples: readonly { readonly action?: string }[];
}

// The types of the package describe each example; here any object is one.
const load: (name: string) => unknown = createRequire(import.meta.url);
const examples = load('@octokit/webhooks-examples') as readonly Examples[];

const APP = 29310;

function reduced(event: string, example: object) {
  return reduceWebhook(event, JSON.stringify(example), { appId: APP });
}

/** Event and action of those that are stored, with what they are about. */
const STORED = `
branch_protection_rule.created rules
branch_protection_rule.deleted rules
branch_protection_rule.edited rules
check_run.completed commit
check_run.rerequested commit
check_suite.completed commit
check_suite.rerequested rerun
installation.created installation
installation.deleted installation
installation.new_permissions_accepted installation
installation.suspend installation
installation.unsuspend installation
installation_repositories.added installation
installation_repositories.removed installation
merge_group.checks_requested merge-group
pull_request.closed pull
pull_request.converted_to_draft pull
pull_request.labeled pull
pull_request.opened pull
pull_request.ready_for_review pull
pull_request.reopened pull
pull_request.synchronize pull
pull_request.unlabeled pull
pull_request_review.dismissed pull
pull_request_review.submitted pull
pull_request_review_thread.resolved pull
pull_request_review_thread.unresolved pull
push ref
repository.edited repository
repository.renamed repository
repository.transferred repository
status commit
`;

describe("of GitHub's examples", () => {
  test('there are many', () => {
    expect(examples.flatMap(each => each.examples).length).toBeGreaterThan(300);
  });

  test.each(examples.map(each => [each.name, each] as const))('%s', (name, each) => {
    for (const example of each.examples) {
      const outcome = reduced(name, example);
      if (outcome.kind !== 'notification') {
        expect(outcome).toEqual({ kind: 'ignored', reason: expect.stringMatching(/./) });
        continue;
      }
      const json = notificationJson(outcome.notification);
      expect(Buffer.byteLength(JSON.stringify(json))).toBeLessThanOrEqual(4_096);
      expect(readGithubNotification(json)).toEqual(outcome.notification);
    }
  });

  test('exactly these are stored', () => {
    const stored = examples.flatMap(({ name, examples: all }) =>
      all.flatMap(example => {
        const outcome = reduced(name, example);
        const action = example.action === undefined ? name : `${name}.${example.action}`;
        return outcome.kind === 'notification' ? [`${action} ${outcome.notification.about.kind}`] : [];
      }),
    );
    expect([...new Set(stored)].toSorted()).toEqual(STORED.trim().split('\n').toSorted());
  });
});
