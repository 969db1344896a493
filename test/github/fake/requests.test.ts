/** What the fake refuses, counts and spoils: requests that GitHub does not allow, limits, faults, stale reads. */
import { expect, test } from 'vitest';
import { type FakeGithub, startFakeGithub } from './fake-github.ts';
import { shapeAt } from './shape.ts';
import type { Pull, Repository } from './world.ts';

interface Scene extends AsyncDisposable {
  readonly github: FakeGithub;
  readonly app: Repository;
  readonly pull: Pull;
  /** One REST request as bob, who may write. */
  readonly ask: (
    method: string,
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ) => Promise<Response>;
  readonly query: (
    query: string,
  ) => Promise<{ data?: unknown; errors?: readonly { message: string; type?: string }[] }>;
}

async function scene(now?: () => number): Promise<Scene> {
  const github = await startFakeGithub(now === undefined ? {} : { now });
  const app = await github.repository('acme/app');
  const pull = await github.openPull(app);
  github.setRole(app, 'bob', 'write');
  const authorization = `token ${github.token('bob')}`;
  const ask: Scene['ask'] = (method, path, body, headers = {}) =>
    fetch(`${github.apiUrl}${path}`, {
      method,
      headers: { authorization, ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  return {
    github,
    app,
    pull,
    ask,
    query: async query => {
      const answer = await fetch(github.graphqlUrl, {
        method: 'POST',
        headers: { authorization },
        body: JSON.stringify({ query }),
      });
      return (await answer.json()) as { data?: unknown };
    },
    [Symbol.asyncDispose]: () => github[Symbol.asyncDispose](),
  };
}

const REPO = '/repos/acme/app';

test.for([
  [
    'POST',
    `${REPO}/statuses/SHA`,
    { state: 'error!', context: 'a' },
    'body/state: must be equal to one of the allowed values',
  ],
  ['POST', `${REPO}/check-runs`, { head_sha: 'SHA' }, "body: must have required property 'name'"],
  ['POST', `${REPO}/check-runs`, { name: 'a', head_sha: 'SHA', detail_url: 'http://a/' }, '(detail_url)'],
  ['PUT', `${REPO}/pulls/1/merge`, { merge_method: 'squash-merge' }, 'body/merge_method: must be equal'],
  ['GET', `${REPO}/pulls?sort=name`, undefined, 'query/sort: must be equal to one of the allowed values'],
  ['GET', `${REPO}/pulls?colour=red`, undefined, '(colour)'],
  ['GET', `${REPO}/nothing`, undefined, 'no such operation'],
] as const)('%s %s is refused with place and reason', async ([method, path, body, problem]) => {
  await using world = await scene();
  const { head } = world.pull.now;
  const sent = body === undefined ? undefined : JSON.parse(JSON.stringify(body).replace('SHA', head));
  const answer = await world.ask(method, path.replace('SHA', head), sent);
  expect([400, 404]).toContain(answer.status);
  expect(world.github.takeViolations().join('\n')).toContain(problem);
});

test('a test that breaks a rule of GitHub fails when the fake is disposed', async () => {
  const world = await scene();
  await world.ask('GET', `${REPO}/pulls?colour=red`);
  await expect(world[Symbol.asyncDispose]()).rejects.toThrow("GitHub's rules were broken");
});

test('an answer that the description does not allow is a violation, and 500', async () => {
  await using world = await scene();
  Object.assign(world.app, { defaultBranch: 7 });
  expect((await world.ask('GET', REPO)).status).toBe(500);
  expect(world.github.takeViolations()[0]).toContain(
    'wrong answer of repos/get: 200 answer/default_branch: must be string',
  );
});

test('a query is judged by the schema of GitHub', async () => {
  await using world = await scene();
  const { errors } = await world.query(
    '{ repository(owner: "acme", name: "app") { pullRequest(number: 1) { isDraftt } } }',
  );
  expect(errors?.[0]?.message).toContain('Did you mean "isDraft"');
  expect(world.github.takeViolations()).toHaveLength(1);
  const unbound = await world.query(
    '{ repository(owner: "acme", name: "app") { pullRequest(number: 1) { labels { nodes { name } } } } }',
  );
  expect(unbound.errors?.[0]).toMatchObject({ type: 'MISSING_PAGINATION_BOUNDARIES' });
  const missing = await world.query('{ repository(owner: "acme", name: "gone") { id } }');
  expect(missing).toMatchObject({ data: { repository: null }, errors: [{ type: 'NOT_FOUND' }] });
});

test('a 304 costs nothing, other requests count', async () => {
  await using world = await scene();
  const first = await world.ask('GET', `${REPO}/pulls/1`);
  expect(first.headers.get('x-ratelimit-used')).toBe('1');
  const etag = first.headers.get('etag') ?? '';
  const second = await world.ask('GET', `${REPO}/pulls/1`, undefined, { 'if-none-match': etag });
  expect([second.status, second.headers.get('x-ratelimit-used')]).toEqual([304, '1']);
  await world.github.label(world.app, world.pull, 'gate');
  expect((await world.ask('GET', `${REPO}/pulls/1`, undefined, { 'if-none-match': etag })).status).toBe(200);
});

test('limits are counted: primary, secondary, content', async () => {
  let now = Date.parse('2026-01-01T00:00:00Z');
  await using world = await scene(() => now);
  const { allowance } = world.github.limits('bob');
  const comment = () => world.ask('POST', `${REPO}/issues/1/comments`, { body: 'hello' });
  allowance.contentPerMinute = 2;
  expect([(await comment()).status, (await comment()).status]).toEqual([201, 201]);
  const third = await comment();
  expect([third.status, third.headers.get('retry-after')]).toEqual([403, '60']);
  expect(await third.json()).toMatchObject({ message: expect.stringContaining('secondary rate limit') });
  now += 61_000;
  expect((await comment()).status).toBe(201);
  allowance.core = 4;
  expect((await world.ask('GET', REPO)).status).toBe(200);
  const spent = await world.ask('GET', REPO);
  expect([spent.status, spent.headers.get('x-ratelimit-remaining')]).toEqual([403, '0']);
  expect(Number(spent.headers.get('x-ratelimit-reset')) * 1000).toBeGreaterThan(now);
  allowance.graphql = 0;
  expect(await world.query('{ viewer { login } }')).toMatchObject({ errors: [{ type: 'RATE_LIMITED' }] });
  now += 3_600_000;
  expect((await world.ask('GET', REPO)).status).toBe(200);
});

test('faults: refused, done but answered 502, reset, and healed', async () => {
  await using world = await scene();
  const { github } = world;
  const comment = () => world.ask('POST', `${REPO}/issues/1/comments`, { body: 'hello' });
  github.faults.add({ operation: 'issues/create-comment', does: { kind: 'status', status: 503 } });
  github.faults.add({
    operation: 'issues/create-comment',
    does: { kind: 'status', status: 502, html: '<html>', after: true },
  });
  github.faults.add({ operation: 'issues/create-comment', does: { kind: 'reset', after: true } });
  github.faults.add({ operation: 'repos/get', does: { kind: 'hang' } });
  expect((await comment()).status).toBe(503);
  expect(world.pull.comments).toHaveLength(0);
  expect((await comment()).status).toBe(502);
  expect(world.pull.comments).toHaveLength(1);
  await expect(comment()).rejects.toThrow('fetch failed');
  expect(world.pull.comments).toHaveLength(2);
  const hanging = world.ask('GET', REPO);
  await expect.poll(() => github.count('repos/get'), { timeout: 15_000 }).toBe(1);
  github.faults.heal();
  await expect(hanging).rejects.toThrow('fetch failed');
});

test('reads can lag behind writes, and mergeable can be unknown', async () => {
  let now = Date.parse('2026-01-01T00:00:00Z');
  await using world = await scene(() => now);
  const title = async () => {
    const answer = await world.ask('GET', `${REPO}/pulls/1`);
    return shapeAt(await answer.json()).title;
  };
  world.github.stale.ms = 5_000;
  now += 10_000;
  await world.github.edit(world.app, world.pull, { title: 'New' });
  expect(await title()).toBe('Change 1');
  now += 5_001;
  expect(await title()).toBe('New');
  world.github.stale.ms = 0;
  world.github.stale.reads = 1;
  expect([await title(), await title()]).toEqual(['Change 1', 'New']);
  world.pull.mergeableFrom = now + 1000;
  const mergeable = () =>
    world.query('{ repository(owner: "acme", name: "app") { pullRequest(number: 1) { mergeable } } }');
  expect(await mergeable()).toMatchObject({
    data: { repository: { pullRequest: { mergeable: 'UNKNOWN' } } },
  });
  now += 1000;
  expect(await mergeable()).toMatchObject({
    data: { repository: { pullRequest: { mergeable: 'MERGEABLE' } } },
  });
});

test('a renamed repository redirects, lists have links to their pages', async () => {
  await using world = await scene();
  for (let each = 0; each < 3; each++)
    await world.github.status(world.app, world.pull.now.head, `ci-${each}`, 'success');
  await world.github.rename(world.app, 'acme/application');
  const moved = await fetch(`${world.github.apiUrl}${REPO}`, {
    redirect: 'manual',
    headers: { authorization: `token ${world.github.token('bob')}` },
  });
  expect([moved.status, moved.headers.get('location')]).toEqual([
    301,
    `${world.github.apiUrl}/repositories/${world.app.id}`,
  ]);
  const page = await world.ask(
    'GET',
    `/repositories/${world.app.id}/commits/${world.pull.now.head}/statuses?per_page=2`,
  );
  expect(await page.json()).toHaveLength(2);
  expect(page.headers.get('link')).toMatch(/page=2>; rel="next", <.*page=2>; rel="last"/);
});
