/** The fake itself: a pull request from its opening to its merge, as a GitHub App sees it. */
import { createAppAuth } from '@octokit/auth-app';
import { Octokit } from '@octokit/core';
import { expect, test } from 'vitest';
import { type FakeGithub, startFakeGithub } from './fake-github.ts';
import type { Repository } from './world.ts';

async function appClient(github: FakeGithub, repository: Repository): Promise<Octokit> {
  const { id: appId, privateKey } = github.app;
  const asApp = new Octokit({
    baseUrl: github.apiUrl,
    authStrategy: createAppAuth,
    auth: { appId, privateKey },
  });
  const { owner, name: repo } = repository;
  const { data } = await asApp.request('GET /repos/{owner}/{repo}/installation', { owner, repo });
  return new Octokit({
    baseUrl: github.apiUrl,
    authStrategy: createAppAuth,
    auth: { appId, privateKey, installationId: data.id },
  });
}

test.for(['github.com', 'ghes'] as const)('an App tests and merges a pull request (%s)', async product => {
  await using github = await startFakeGithub({ product });
  const app = await github.repository('acme/app');
  await github.install('acme');
  github.setRole(app, 'bob', 'write');
  await github.protect(app, 'main', { checks: ['acme/gate'], approvals: 1 });
  const pull = await github.openPull(app, { title: 'Add a', files: { 'a.txt': 'a\n' } });
  const client = await appClient(github, app);
  const at = { owner: 'acme', repo: 'app', pull_number: pull.number };
  const merge = () => client.request('PUT /repos/{owner}/{repo}/pulls/{pull_number}/merge', at);

  await expect(merge()).rejects.toMatchObject({
    status: 405,
    message: expect.stringContaining('Required status check "acme/gate" is expected.'),
  });
  await client.request('POST /repos/{owner}/{repo}/check-runs', {
    owner: 'acme',
    repo: 'app',
    name: 'acme/gate',
    head_sha: pull.now.head,
    status: 'completed',
    conclusion: 'success',
    output: {
      title: 'Good',
      summary: 'All good',
      annotations: [{ path: 'a.txt', start_line: 1, end_line: 1, annotation_level: 'notice', message: 'a' }],
    },
  });
  await expect(merge()).rejects.toMatchObject({
    status: 405,
    message: expect.stringContaining('At least 1 approving review'),
  });
  await github.review(app, pull, 'bob', 'APPROVED');
  const { data } = await merge();

  expect(await github.tip(app, 'main')).toBe(data.sha);
  expect(pull.now).toMatchObject({
    state: 'closed',
    merged: true,
    mergeCommit: data.sha,
    mergedBy: 'gatehouse[bot]',
  });
  await github.settled();
  expect(
    github.deliveries.map(each => `${each.event}${each.action === null ? '' : `.${each.action}`}`),
  ).toEqual([
    'installation.created',
    'branch_protection_rule.created',
    'pull_request.opened',
    'check_run.completed',
    'pull_request_review.submitted',
    'push',
    'pull_request.closed',
  ]);
});

test('one query reads everything about a pull request', async () => {
  await using github = await startFakeGithub();
  const app = await github.repository('acme/app');
  await github.install('acme');
  await github.protect(app, 'main', { checks: ['lint'], approvals: 1, conversations: true });
  const pull = await github.openPull(app, {
    body: 'Depends-On: https://github.com/acme/lib/pull/1',
    labels: ['gate'],
  });
  await github.openThread(app, pull);
  await github.review(app, pull, 'eve', 'APPROVED');
  await github.status(app, pull.now.head, 'lint', 'success');
  const client = await appClient(github, app);
  const answer = await client.graphql(
    `query ($owner: String!, $name: String!, $number: Int!) {
      rateLimit { cost remaining resetAt }
      repository(owner: $owner, name: $name) {
        pullRequest(number: $number) {
          number title body isDraft state mergeable reviewDecision updatedAt headRefOid baseRefName baseRefOid
          author { login } headRepository { nameWithOwner } labels(first: 100) { nodes { name } }
          files(first: 100) { nodes { path changeType } pageInfo { hasNextPage } }
          latestOpinionatedReviews(first: 100) {
            nodes { state author { login } authorCanPushToRepository submittedAt commit { oid } }
          }
          reviewThreads(first: 100) { totalCount nodes { isResolved } }
          commits(last: 1) {
            nodes { commit { oid statusCheckRollup { state contexts(first: 100) { nodes {
              __typename
              ... on CheckRun { name status conclusion isRequired(pullRequestNumber: $number) checkSuite { app { databaseId slug } } }
              ... on StatusContext { context state creator { login } isRequired(pullRequestNumber: $number) }
            } } } } }
          }
        }
      }
    }`,
    { owner: 'acme', name: 'app', number: pull.number },
  );
  expect(answer).toMatchObject({
    rateLimit: { cost: 1, remaining: 4999 },
    repository: {
      pullRequest: {
        state: 'OPEN',
        mergeable: 'MERGEABLE',
        reviewDecision: 'REVIEW_REQUIRED',
        labels: { nodes: [{ name: 'gate' }] },
        files: { nodes: [{ path: 'file-1.txt', changeType: 'ADDED' }] },
        latestOpinionatedReviews: { nodes: [{ author: { login: 'eve' }, authorCanPushToRepository: false }] },
        reviewThreads: { totalCount: 1, nodes: [{ isResolved: false }] },
        commits: {
          nodes: [
            {
              commit: {
                statusCheckRollup: {
                  state: 'SUCCESS',
                  contexts: { nodes: [{ context: 'lint', isRequired: true }] },
                },
              },
            },
          ],
        },
      },
    },
  });
});
