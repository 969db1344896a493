/** The client over HTTP, before a host that answers by script. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { NotHolder } from '../../../../../src/driver/not-holder.ts';
import { openClientWorld, SECOND_TOKEN, TOKEN } from './client-world.ts';

type World = Awaited<ReturnType<typeof openClientWorld>>;

let world: World;
beforeEach(async () => {
  world = await openClientWorld();
});
afterEach(() => world[Symbol.asyncDispose]());

const PULL = 'GET /repos/acme/app/pulls/12';
const getPull = ({ api, call }: World, over = {}) =>
  api.rest('pulls/get', 'GET /repos/{owner}/{repo}/pulls/{pull_number}', { pull_number: 12 }, call(over));
const COMMENT = 'POST /repos/acme/app/issues/12/comments';
const comment = ({ api, call }: World, over = {}) =>
  api.rest(
    'issues/create-comment',
    'POST /repos/{owner}/{repo}/issues/{issue_number}/comments',
    { issue_number: 12, body: 'hi' },
    call(over),
  );
const asksOf = (route: string) => world.host.routes().filter(asked => asked === route).length;

describe('credentials', () => {
  test('are those of the installation on the repository, with no more permission than is used', async () => {
    world.host.answer(PULL, { body: { number: 12 } });
    expect(await getPull(world)).toEqual({ kind: 'ok', status: 200, data: { number: 12 } });
    const [installation, token, pull] = world.host.asked;
    expect(installation?.headers.authorization).toMatch(/^bearer eyJ/);
    expect(token).toMatchObject({
      route: 'POST /app/installations/7/access_tokens',
      body: { permissions: { metadata: 'read', contents: 'write', checks: 'write', issues: 'read' } },
    });
    expect(pull?.headers.authorization).toBe(`token ${TOKEN}`);
  });

  test('are asked for once by calls at the same time', async () => {
    world.host.answer(PULL, { body: {} });
    await Promise.all(Array.from({ length: 10 }, () => getPull(world)));
    expect(asksOf('GET /repos/acme/app/installation')).toBe(1);
    expect(asksOf('POST /app/installations/7/access_tokens')).toBe(1);
    expect(asksOf(PULL)).toBe(10);
  });

  test('that the host does not accept any more are replaced, and the request is sent once more', async () => {
    const unauthorized = { status: 401, body: { message: 'Bad credentials' } };
    world.host.answer(COMMENT, unauthorized, unauthorized, { status: 201, body: { id: 1 } });
    world.host.answer(
      'POST /app/installations/7/access_tokens',
      { status: 201, body: { token: TOKEN } },
      { status: 201, body: { token: SECOND_TOKEN } },
    );
    // New tokens get a second chance; then they are replaced.
    expect(await comment(world)).toMatchObject({ kind: 'ok', status: 201 });
    const sent = world.host.asked.filter(({ route }) => route === COMMENT);
    expect(sent.map(({ headers }) => headers.authorization)).toEqual([
      `token ${TOKEN}`,
      `token ${TOKEN}`,
      `token ${SECOND_TOKEN}`,
    ]);
  });

  test('that never work are host trouble, after three requests', async () => {
    world.host.answer(PULL, { status: 401, body: { message: 'Bad credentials' } });
    expect(await getPull(world)).toMatchObject({ kind: 'later', later: { reason: 'denied' } });
    expect(asksOf(PULL)).toBe(3);
  });

  test.each([
    [404, { message: 'Not Found' }, /not installed on acme\/app/],
    [200, { id: 7, suspended_at: '2026-01-01T00:00:00Z' }, /is suspended/],
    [401, { message: 'A JSON web token could not be decoded' }, /check app_id and app_key/],
  ])(
    'answer to the question for an installation %i %j: host trouble with advice, kept for a while',
    async (status, body, text) => {
      world.host.answer('GET /repos/acme/app/installation', { status, body });
      expect(await getPull(world)).toEqual({
        kind: 'later',
        later: { reason: 'denied', text: expect.stringMatching(text) },
      });
      await getPull(world);
      expect(world.host.routes()).toEqual(['GET /repos/acme/app/installation']);
      world.client.credentials.forget();
      await getPull(world);
      expect(asksOf('GET /repos/acme/app/installation')).toBe(2);
    },
  );
});

describe('an answer', () => {
  test.each([403, 404, 405, 409, 410, 422])(
    '%i judges the request, with the words of the host',
    async status => {
      world.host.answer(COMMENT, {
        status,
        body: { message: 'No', errors: ['one', { resource: 'Issue', field: 'body', code: 'invalid' }] },
      });
      expect(await comment(world)).toEqual({
        kind: 'refused',
        status,
        text: `GitHub answered ${status}: No`,
        errors: ['one', 'Issue body invalid'],
      });
    },
  );

  test('of a renamed repository names the new one', async () => {
    world.host.answer(PULL, {
      status: 301,
      headers: { location: `${world.host.url}/repositories/55/pulls/12` },
      body: { message: 'Moved Permanently' },
    });
    world.host.answer('GET /repositories/55', { body: { full_name: 'acme/new' } });
    expect(await getPull(world)).toEqual({
      kind: 'refused',
      status: 301,
      text: 'acme/app was renamed or transferred: it is acme/new now',
      errors: ['acme/new'],
    });
  });

  test('that did not change is free and the same', async () => {
    world.host.answer(
      PULL,
      { headers: { etag: '"a"' }, body: { number: 12 } },
      { status: 304, headers: { etag: '"a"' } },
    );
    const first = await getPull(world);
    expect(await getPull(world)).toEqual(first);
    expect(world.host.asked.at(-1)?.headers['if-none-match']).toBe('"a"');
    expect(world.steps.at(-1)?.facts).toMatchObject({ status: 304, cached: true, cost: 0 });
  });

  test('of a list that goes on says where, also when it did not change', async () => {
    const link =
      '<https://api.github.com/repos/acme/app/pulls/12?per_page=100&cursor=v1_17%3D>; rel="next", <https://api.github.com/x?cursor=v1_1>; rel="prev"';
    world.host.answer(
      PULL,
      { headers: { etag: '"a"', link }, body: { number: 12 } },
      { status: 304, headers: { etag: '"a"' } },
      { body: { number: 12 }, headers: { link: '<https://api.github.com/x?page=2>; rel="next"' } },
    );
    expect(await getPull(world)).toMatchObject({ kind: 'ok', next: 'v1_17=' });
    expect(await getPull(world)).toMatchObject({ kind: 'ok', next: 'v1_17=' });
    expect(await getPull(world)).not.toHaveProperty('next');
  });

  test.each([500, 502, 503])('%i to a read is asked for twice more, then host trouble', async status => {
    world.host.answer(PULL, { status, body: { message: 'Server Error' } });
    expect(await getPull(world)).toMatchObject({ kind: 'later', later: { reason: 'unreachable' } });
    expect(asksOf(PULL)).toBe(3);
  });

  test.each([{ status: 502 }, { isReset: true }] as const)(
    '%j to a write is lost, and the write is not sent again',
    async answer => {
      world.host.answer(COMMENT, answer);
      expect(await comment(world)).toMatchObject({ kind: 'lost' });
      expect(asksOf(COMMENT)).toBe(1);
    },
  );

  test('that does not end with the call: an abort throws its reason', async () => {
    world.host.answer(PULL, { hangs: true });
    const stop = new AbortController();
    const asked = getPull(world, { signal: stop.signal });
    await world.host.count(3);
    stop.abort(new Error('stopped'));
    await expect(asked).rejects.toThrow('stopped');
  });
});

describe('a limit', () => {
  const soon = () => String(Math.ceil(Date.now() / 1000) + 600);

  test('is host trouble until the time the host names, and nothing is sent before', async () => {
    const reset = soon();
    world.host.answer(PULL, {
      status: 403,
      headers: { 'x-ratelimit-limit': '5000', 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': reset },
      body: { message: 'API rate limit exceeded for installation ID 7.' },
    });
    const limited = { kind: 'later', later: { reason: 'limited', notBefore: `${reset}000000000` } };
    expect(await getPull(world)).toMatchObject(limited);
    expect(await getPull(world, { weight: 'final' })).toMatchObject(limited);
    expect(asksOf(PULL)).toBe(1);
    expect(world.steps.at(-1)).toMatchObject({
      kind: 'HostWait',
      facts: { reason: 'primary-limit', installation: '7', until: `${reset}000000000` },
    });
    expect(world.client.limitedUntil()).toBe(`${reset}000000000`);
  });

  test('that nears is for results and merges alone', async () => {
    world.host.answer(PULL, {
      headers: { 'x-ratelimit-limit': '5000', 'x-ratelimit-remaining': '900', 'x-ratelimit-reset': soon() },
      body: {},
    });
    await getPull(world);
    expect(await getPull(world)).toMatchObject({ kind: 'later', later: { reason: 'limited' } });
    expect(world.steps.at(-1)).toMatchObject({ kind: 'HostWait', facts: { reason: 'reserve' } });
    expect(await getPull(world, { weight: 'final' })).toMatchObject({ kind: 'ok' });
  });

  test('of GraphQL comes with status 200', async () => {
    world.host.answer('POST /graphql', {
      headers: { 'x-ratelimit-reset': soon() },
      body: { errors: [{ type: 'RATE_LIMITED', message: 'API rate limit already exceeded' }] },
    });
    expect(await world.api.graphql('pull-state', '{viewer{login}}', {}, world.call())).toMatchObject({
      kind: 'later',
      later: { reason: 'limited' },
    });
  });
});

describe('a write', () => {
  test('is not sent by a process that may not act any more', async () => {
    world.host.answer(COMMENT, { status: 201, body: {} });
    await expect(comment(world, { mayAct: () => false })).rejects.toThrow(NotHolder);
    expect(asksOf(COMMENT)).toBe(0);
  });
});

describe('secrets', () => {
  test('are in no step, text, error or warning when the host sends them back', async () => {
    const echo = { status: 422, body: { message: `Bad token ${TOKEN}`, errors: [`token ${TOKEN}`] } };
    world.host.answer(COMMENT, echo, { ...echo, status: 500 }, { isReset: true });
    world.host.answer(PULL, { status: 500, body: { message: `authorization: token ${TOKEN}` } });
    const answers = [
      await comment(world),
      await comment(world),
      await comment(world),
      await getPull(world),
      await world.api.identity(world.call()),
    ];
    const shown = JSON.stringify([answers, world.steps, world.warnings, world.notes]);
    expect(shown).toContain('***');
    expect(shown).not.toMatch(/Canary|eyJ|PRIVATE KEY/);
  });
});

describe('identity', () => {
  test('is the App with the permissions of the installation', async () => {
    world.host.answer('GET /app', { body: { id: 1, slug: 'gatehouse' } });
    expect(await world.api.identity(world.call())).toMatchObject({
      data: {
        login: 'gatehouse[bot]',
        app: { id: 1, slug: 'gatehouse' },
        permissions: { contents: 'write' },
      },
    });
  });

  test('is the user of a token', async () => {
    await using other = await openClientWorld('token');
    other.host.answer('GET /user', { body: { login: 'ci', id: 3 } });
    expect(await other.api.identity(other.call())).toMatchObject({
      data: { login: 'ci', app: null, permissions: null },
    });
    expect(
      await other.api.rest('apps/list-webhook-deliveries', 'GET /app/hook/deliveries', {}, other.call()),
    ).toMatchObject({ kind: 'refused', status: 404 });
    expect(other.host.routes()).toEqual(['GET /user']);
  });
});
