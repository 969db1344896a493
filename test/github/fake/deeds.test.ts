/** What people do at the fake is sent as webhooks that GitHub's schemas allow: disposing throws for one that they do not. */
import { createHmac } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { startFakeGithub } from './fake-github.ts';

/** Event and action of the deliveries since `from`. */
function eventsOf(
  github: { readonly deliveries: readonly { event: string; action: string | null }[] },
  from = 0,
): readonly string[] {
  return github.deliveries
    .slice(from)
    .map(({ event, action }) => (action === null ? event : `${event}.${action}`));
}

async function withApp() {
  const github = await startFakeGithub();
  const app = await github.repository('acme/app');
  const installation = await github.install('acme');
  return { github, app, installation, [Symbol.asyncDispose]: () => github[Symbol.asyncDispose]() };
}

test('each deed to a pull request sends its event', async () => {
  await using world = await withApp();
  const { github, app } = world;
  const pull = await github.openPull(app, { draft: true });
  await github.setDraft(app, pull, false);
  await github.setDraft(app, pull, true);
  await github.label(app, pull, 'gate');
  await github.unlabel(app, pull, 'gate');
  await github.push(app, 'stable', { files: { 'a.txt': 'a' } });
  await github.edit(app, pull, { title: 'Other', base: 'stable' });
  await github.push(app, pull.headRef, { files: { 'more.txt': '1' }, user: pull.user });
  const review = await github.review(app, pull, 'bob', 'CHANGES_REQUESTED', 'No');
  await github.dismiss(app, pull, review);
  const comment = await github.comment(app, pull, 'bob', 'recheck');
  await github.editComment(app, pull, comment, 'recheck please');
  await github.resolveThread(app, pull, await github.openThread(app, pull));
  await github.close(app, pull);
  await github.reopen(app, pull);
  expect(eventsOf(github, 1)).toEqual([
    'pull_request.opened',
    'pull_request.ready_for_review',
    'pull_request.converted_to_draft',
    'pull_request.labeled',
    'pull_request.unlabeled',
    'push',
    'create',
    'pull_request.edited',
    'push',
    'pull_request.synchronize',
    'pull_request_review.submitted',
    'pull_request_review.dismissed',
    'issue_comment.created',
    'issue_comment.edited',
    'pull_request_review_thread.resolved',
    'pull_request.closed',
    'pull_request.reopened',
  ]);
  expect(github.deliveries.at(-8)?.payload).toMatchObject({
    action: 'synchronize',
    after: pull.now.head,
    pull_request: { head: { sha: pull.now.head }, base: { ref: 'stable' } },
    repository: { full_name: 'acme/app' },
  });
});

test('each deed to a repository, a check and the installation sends its event', async () => {
  await using world = await withApp();
  const { github, app, installation } = world;
  const head = await github.push(app, 'topic', { files: { 'a.txt': 'a' } });
  const from = github.deliveries.length;
  await github.setRef(app, 'refs/tags/v1', head);
  await github.setRef(app, 'refs/heads/topic', null);
  await github.protect(app, 'main', { checks: ['lint'] });
  await github.protect(app, 'main', {});
  await github.unprotect(app, 'main');
  await github.addRuleset(app, 'main', { linearHistory: true });
  await github.status(app, head, 'lint', 'success');
  await github.otherCheck(app, head, 'lint', 'neutral');
  const check = app.checks[0]!;
  await github.rerun(app, check);
  await github.pressButton(app, check, 'dequeue');
  await github.rerunAll(app, head);
  await github.archive(app);
  await github.archive(app, false);
  await github.setDefaultBranch(app, 'main');
  await github.rename(app, 'acme/application');
  await github.removeRepository(installation, app);
  await github.addRepository(installation, app);
  await github.setPermissions(installation, { contents: 'read' });
  await github.suspend(installation);
  await github.suspend(installation, false);
  await github.uninstall(installation);
  expect(eventsOf(github, from)).toEqual([
    ...['push', 'create', 'push', 'delete'],
    ...['branch_protection_rule.created', 'branch_protection_rule.edited', 'branch_protection_rule.deleted'],
    ...['repository_ruleset.created', 'status', 'check_run.completed'],
    ...['check_run.rerequested', 'check_run.requested_action', 'check_suite.rerequested'],
    ...['repository.archived', 'repository.unarchived', 'repository.edited', 'repository.renamed'],
    ...['installation_repositories.removed', 'installation_repositories.added'],
    ...[
      'installation.new_permissions_accepted',
      'installation.suspend',
      'installation.unsuspend',
      'installation.deleted',
    ],
  ]);
});

test('a group of the merge queue is merged when its required checks are there, and destroyed', async () => {
  await using world = await withApp();
  const { github, app } = world;
  await github.protect(app, 'main', { checks: ['acme/gate'], mergeQueue: true });
  const pulls = [await github.openPull(app), await github.openPull(app)];
  const from = github.deliveries.length;
  const group = await github.queueGroup(app, pulls);
  expect(group.ref).toBe(`refs/heads/gh-readonly-queue/main/pr-2-${group.baseSha}`);
  expect(await github.settleGroup(app, group)).toBe(false);
  await github.status(app, group.headSha, 'acme/gate', 'success');
  expect(await github.settleGroup(app, group)).toBe(true);
  expect(await github.tip(app, 'main')).toBe(group.headSha);
  expect(pulls.map(({ now }) => now.merged)).toEqual([true, true]);
  expect(eventsOf(github, from)).toEqual([
    ...['push', 'create', 'merge_group.checks_requested', 'status'],
    ...['push', 'pull_request.closed', 'pull_request.closed', 'merge_group.destroyed', 'push', 'delete'],
  ]);
});

test('accounts and forks that were deleted are null', async () => {
  await using world = await withApp();
  const { github, app } = world;
  const fork = await github.fork(app, 'mallory');
  const pull = await github.openPull(app, { from: fork, user: 'mallory' });
  github.deleteUser('mallory');
  github.deleteRepository(fork);
  await github.edit(app, pull, { title: 'Left behind' }, 'bob');
  expect(github.deliveries.at(-1)?.payload).toMatchObject({
    pull_request: { user: null, head: { repo: null, sha: pull.now.head } },
  });
});

test('deliveries are signed, and can be lost, doubled, held, swapped and sent again', async () => {
  const received: string[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const signature = createHmac('sha256', 'webhook-secret').update(Buffer.concat(chunks)).digest('hex');
    const right = request.headers['x-hub-signature-256'] === `sha256=${signature}`;
    received.push(
      `${JSON.parse(Buffer.concat(chunks).toString()).label?.name} ${right} ${request.headers['x-github-delivery']}`,
    );
    response.end();
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  await using github = await startFakeGithub();
  const app = await github.repository('acme/app');
  await github.install('acme');
  const pull = await github.openPull(app);
  github.webhook.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  github.hooks.faults.push('lost', 'doubled', 'held', 'swapped');
  for (const name of ['lost', 'doubled', 'held', 'swapped', 'last']) await github.label(app, pull, name);
  expect(received.map(each => each.split(' ').slice(0, 2).join(' '))).toEqual([
    'doubled true',
    'doubled true',
    'last true',
    'swapped true',
  ]);
  github.hooks.release();
  await github.settled();
  expect(received.at(-1)).toContain('held true');
  const lost = github.deliveries.find(({ status }) => status === 502)!;
  expect(github.hooks.redeliver(lost.id)).toBe(true);
  await github.settled();
  expect(received.at(-1)).toBe(`lost true ${lost.guid}`);
  expect(github.deliveries.at(-1)).toMatchObject({ redelivery: true, guid: lost.guid, status: 200 });
  server.closeAllConnections();
  await new Promise(resolve => server.close(resolve));
});
