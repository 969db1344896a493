/** Every operation that the fake serves, once, at github.com and at GitHub Enterprise Server: disposing throws for a wrong answer. */
import { createAppAuth } from '@octokit/auth-app';
import { Octokit } from '@octokit/core';
import { expect, test } from 'vitest';
import { startFakeGithub } from './fake-github.ts';
import { shapeAt } from './shape.ts';

test.for(['github.com', 'ghes'] as const)(
  'every operation answers as its description says (%s)',
  async product => {
    await using github = await startFakeGithub({ product });
    const app = await github.repository('acme/app');
    const installation = await github.install('acme');
    const pull = await github.openPull(app, { files: { '.github/workflows/a.yml': 'a' } });
    await github.openPull(app);
    await github.review(app, pull, 'bob', 'APPROVED');
    await github.status(app, pull.now.head, 'lint', 'success');
    await github.protect(app, 'main', {
      checks: ['a', { context: 'b', app: 7 }],
      approvals: 1,
      codeOwners: true,
      pushers: ['bob', 'gatehouse[bot]'],
    });
    await github.protect(app, 'main', { pushers: ['bob', 'gatehouse[bot]'], bypass: ['gatehouse[bot]'] });
    const rules = {
      checks: ['a', { context: 'b', app: 7 }],
      approvals: 1,
      methods: ['squash'],
      linearHistory: true,
      mergeQueue: true,
      signatures: true,
      locked: true,
    };
    const ruleset = await github.addRuleset(app, 'release', rules);
    const { id: appId, privateKey } = github.app;
    const make = (auth: Record<string, unknown>) =>
      new Octokit({
        baseUrl: github.apiUrl,
        authStrategy: createAppAuth,
        auth: { appId, privateKey, ...auth },
      });
    const [asApp, asInstallation] = [make({}), make({ installationId: installation.id })];
    const asOwner = new Octokit({ baseUrl: github.apiUrl, auth: github.token('acme') });
    const sha = pull.now.head;
    const at = { owner: 'acme', repo: 'app' };
    const by =
      (client: Octokit) =>
      async (route: string, more: Record<string, unknown> = {}) => {
        const answer: { data: unknown } = await client
          .request(route, { ...(route.includes('{owner}') ? at : {}), ...more })
          .catch(error => {
            throw new Error(`${route}: ${error}\n${github.takeViolations().join('\n')}`);
          });
        return answer.data;
      };
    const [appAsks, botAsks, ownerAsks] = [by(asApp), by(asInstallation), by(asOwner)];
    const delivery = github.deliveries.at(-1)!.id;

    for (const route of [
      'GET /app',
      'GET /app/installations',
      'GET /repos/{owner}/{repo}/installation',
      'GET /app/hook/deliveries',
    ])
      await appAsks(route);
    await appAsks('GET /app/installations/{installation_id}', { installation_id: installation.id });
    await appAsks('GET /orgs/{org}/installation', { org: 'acme' });
    await appAsks('POST /app/installations/{installation_id}/access_tokens', {
      installation_id: installation.id,
      repositories: ['app'],
      permissions: { contents: 'read' },
    });
    await appAsks('GET /app/hook/deliveries/{delivery_id}', { delivery_id: delivery });
    await appAsks('POST /app/hook/deliveries/{delivery_id}/attempts', { delivery_id: delivery });

    await ownerAsks('GET /user');
    await ownerAsks('GET /repos/{owner}/{repo}/hooks');
    await ownerAsks('GET /repos/{owner}/{repo}/hooks/{hook_id}/deliveries', { hook_id: 1 });
    await ownerAsks('GET /repos/{owner}/{repo}/hooks/{hook_id}/deliveries/{delivery_id}', {
      hook_id: 1,
      delivery_id: delivery,
    });
    await ownerAsks('POST /repos/{owner}/{repo}/hooks/{hook_id}/deliveries/{delivery_id}/attempts', {
      hook_id: 1,
      delivery_id: delivery,
    });

    await botAsks('GET /meta');
    if (product === 'github.com') await botAsks('GET /rate_limit');
    await botAsks('GET /installation/repositories');
    await botAsks('GET /users/{username}', { username: 'bob' });
    await botAsks('GET /repos/{owner}/{repo}');
    await botAsks('GET /repos/{owner}/{repo}/branches');
    await botAsks('GET /repos/{owner}/{repo}/branches/{branch}', { branch: 'main' });
    await botAsks('GET /repos/{owner}/{repo}/branches/{branch}/protection', { branch: 'main' });
    await botAsks('GET /repos/{owner}/{repo}/rules/branches/{branch}', { branch: 'release' });
    await botAsks('GET /repos/{owner}/{repo}/rulesets/{ruleset_id}', { ruleset_id: ruleset.id });
    await botAsks('GET /repos/{owner}/{repo}/collaborators/{username}/permission', { username: 'bob' });
    await botAsks('GET /repos/{owner}/{repo}/compare/{basehead}', { basehead: `main...${sha}` });
    await botAsks('GET /repos/{owner}/{repo}/commits');
    for (const rest of ['', '/status', '/statuses', '/check-runs'])
      await botAsks(`GET /repos/{owner}/{repo}/commits/{ref}${rest}`, { ref: sha });
    await botAsks('GET /repos/{owner}/{repo}/commits/{commit_sha}/pulls', { commit_sha: sha });
    await botAsks('GET /repos/{owner}/{repo}/git/commits/{commit_sha}', { commit_sha: sha });
    await botAsks('POST /repos/{owner}/{repo}/statuses/{sha}', {
      sha,
      state: 'pending',
      context: 'acme/gate',
      description: 'Runs',
    });

    const run = {
      check_run_id: shapeAt(
        await botAsks('POST /repos/{owner}/{repo}/check-runs', {
          name: 'acme/check',
          head_sha: sha,
          status: 'in_progress',
        }),
      ).id,
    };
    await botAsks('PATCH /repos/{owner}/{repo}/check-runs/{check_run_id}', {
      ...run,
      conclusion: 'failure',
      output: { title: 'a', summary: 'b' },
    });
    await botAsks('GET /repos/{owner}/{repo}/check-runs/{check_run_id}', run);
    await botAsks('GET /repos/{owner}/{repo}/check-runs/{check_run_id}/annotations', run);
    await botAsks('POST /repos/{owner}/{repo}/check-runs/{check_run_id}/rerequest', run);

    const issue = { issue_number: pull.number };
    const comment = {
      comment_id: shapeAt(
        await botAsks('POST /repos/{owner}/{repo}/issues/{issue_number}/comments', { ...issue, body: 'a' }),
      ).id,
    };
    await botAsks('GET /repos/{owner}/{repo}/issues/{issue_number}/comments', issue);
    await botAsks('PATCH /repos/{owner}/{repo}/issues/comments/{comment_id}', { ...comment, body: 'b' });
    await botAsks('GET /repos/{owner}/{repo}/issues/comments/{comment_id}', comment);
    await botAsks('POST /repos/{owner}/{repo}/issues/comments/{comment_id}/reactions', {
      ...comment,
      content: 'eyes',
    });
    await botAsks('GET /repos/{owner}/{repo}/issues/comments/{comment_id}/reactions', comment);
    await botAsks('DELETE /repos/{owner}/{repo}/issues/comments/{comment_id}', comment);
    await botAsks('POST /repos/{owner}/{repo}/issues/{issue_number}/labels', {
      ...issue,
      labels: ['a/b', 'c'],
    });
    await botAsks('GET /repos/{owner}/{repo}/issues/{issue_number}/labels', issue);
    await botAsks('DELETE /repos/{owner}/{repo}/issues/{issue_number}/labels/{name}', {
      ...issue,
      name: 'a/b',
    });
    expect(pull.now.labels).toEqual(['c']);

    const one = { pull_number: pull.number };
    for (const rest of ['', '/files', '/commits', '/reviews'])
      await botAsks(`GET /repos/{owner}/{repo}/pulls/{pull_number}${rest}`, one);
    await botAsks('GET /repos/{owner}/{repo}/pulls', { state: 'all' });
    await botAsks('PATCH /repos/{owner}/{repo}/pulls/{pull_number}', { ...one, title: 'Other' });
    const review = shapeAt(
      await botAsks('POST /repos/{owner}/{repo}/pulls/{pull_number}/reviews', {
        ...one,
        event: 'APPROVE',
        body: 'Good',
      }),
    ).id;
    await botAsks('PUT /repos/{owner}/{repo}/pulls/{pull_number}/reviews/{review_id}/dismissals', {
      ...one,
      review_id: review,
      message: 'No',
    });
    await expect(botAsks('GET /repos/{owner}/{repo}/pulls/{pull_number}/merge', one)).rejects.toThrow(
      'HttpError',
    );
    await botAsks('PUT /repos/{owner}/{repo}/pulls/{pull_number}/merge', {
      ...one,
      sha,
      merge_method: 'squash',
    });
    await botAsks('GET /repos/{owner}/{repo}/pulls/{pull_number}/merge', one);

    await botAsks('POST /repos/{owner}/{repo}/git/refs', { ref: 'refs/heads/staging', sha });
    await botAsks('GET /repos/{owner}/{repo}/git/ref/{ref}', { ref: 'heads/staging' });
    await botAsks('PATCH /repos/{owner}/{repo}/git/refs/{ref}', {
      ref: 'heads/staging',
      sha: await github.tip(app, 'main'),
      force: true,
    });
    await botAsks('DELETE /repos/{owner}/{repo}/git/refs/{ref}', { ref: 'heads/staging' });
    await github.settled();
    expect(github.takeViolations()).toEqual([]);
  },
);
