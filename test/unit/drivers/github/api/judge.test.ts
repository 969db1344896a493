import { describe, expect, test } from 'vitest';
import { hostText } from '../../../../../drivers/github/api/host-text.ts';
import { judgeAnswer } from '../../../../../drivers/github/api/judge-answer.ts';
import { judgeGraphql } from '../../../../../drivers/github/api/judge-graphql.ts';
import type { GithubHeaders, GithubRaw } from '../../../../../drivers/github/api/send.ts';

const NOW = 1_795_000_000_000;
const answer = (status: number, message: string, headers: GithubHeaders = {}): GithubRaw => ({
  kind: 'answered',
  status,
  headers,
  data: { message },
});
const graphql = (body: unknown): GithubRaw => ({ kind: 'answered', status: 200, headers: {}, data: body });

describe('a limit is known by', () => {
  test.each<[string, GithubRaw, 'primary' | 'secondary', number | null]>([
    [
      'the text of the primary limit, and its reset',
      answer(403, 'API rate limit exceeded for installation ID 7.', { 'x-ratelimit-reset': '1795000600' }),
      'primary',
      NOW + 600_000,
    ],
    [
      'a remaining of 0',
      answer(403, 'Forbidden', { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '1795000600' }),
      'primary',
      NOW + 600_000,
    ],
    [
      "today's text of the secondary limit",
      answer(403, 'You have exceeded a secondary rate limit. Please wait a few minutes', {
        'retry-after': '60',
      }),
      'secondary',
      NOW + 60_000,
    ],
    [
      'the text of old GitHub Enterprise Servers',
      answer(403, 'You have triggered an abuse detection mechanism. Please wait a few minutes'),
      'secondary',
      null,
    ],
    [
      'the text of content that comes too quickly',
      answer(422, 'was submitted too quickly'),
      'secondary',
      null,
    ],
    ['status 429, with any text', answer(429, 'no'), 'secondary', null],
    [
      'Retry-After as a date',
      answer(403, 'no', { 'retry-after': new Date(NOW + 90_000).toUTCString() }),
      'secondary',
      NOW + 90_000,
    ],
  ])('%s', (_name, raw, by, until) => {
    expect(judgeAnswer(raw, NOW)).toMatchObject({ kind: 'limited', limit: { by, until } });
  });
});

describe('no limit, and', () => {
  test('a permission that is missing judges the request', () => {
    expect(judgeAnswer(answer(403, 'Resource not accessible by integration'), NOW)).toMatchObject({
      kind: 'refused',
      status: 403,
    });
  });

  test.each([
    'This installation has been suspended',
    'Although you appear to have the correct authorization credentials, the `acme` organization has an IP allow list enabled',
    'Resource protected by organization SAML enforcement. You must grant your OAuth token access to this organization.',
  ])('access that is missing as a whole does not: %s', text => {
    expect(judgeAnswer(answer(403, text), NOW)).toMatchObject({ kind: 'denied' });
  });

  test.each([200, 201, 302, 400, 401, 403, 404, 407, 422, 502])(
    'a page of a proxy with status %i is no word of GitHub, and is not shown',
    status => {
      const page: GithubRaw = { kind: 'answered', status, headers: {}, data: '<html>Sign in first</html>' };
      const text = `GitHub answered ${status}: no message`;
      expect(judgeAnswer(page, NOW)).toMatchObject({ kind: 'outage', text, isSent: true });
    },
  );

  test('a page that says how long to wait is a limit, and an answer without a body is one', () => {
    const page = (status: number, data: unknown): GithubRaw => ({
      ...{ kind: 'answered', status, data },
      headers: status === 403 ? { 'retry-after': '30' } : {},
    });
    expect(judgeAnswer(page(403, '<html>'), NOW)).toMatchObject({ kind: 'limited' });
    for (const data of [undefined, ''])
      expect(judgeAnswer(page(204, data), NOW)).toMatchObject({ kind: 'ok', status: 204 });
  });
});

describe('GraphQL', () => {
  const failed = (type: string | undefined, message: string) =>
    judgeGraphql(graphql({ data: { repository: null }, errors: [{ type, message }] }), NOW);

  test('data without errors is the answer', () => {
    expect(judgeGraphql(graphql({ data: { viewer: { login: 'x' } } }), NOW)).toEqual({
      kind: 'ok',
      status: 200,
      data: { viewer: { login: 'x' } },
    });
  });

  test.each([
    ['NOT_FOUND', 'Could not resolve to a Repository', { kind: 'refused', status: 404 }],
    ['FORBIDDEN', 'Resource not accessible by integration', { kind: 'refused', status: 403 }],
    ['MAX_NODE_LIMIT_EXCEEDED', 'too many nodes', { kind: 'refused', status: 422 }],
    ['RATE_LIMITED', 'API rate limit exceeded', { kind: 'limited', limit: { by: 'primary' } }],
    [undefined, 'You have exceeded a secondary rate limit', { kind: 'limited', limit: { by: 'secondary' } }],
    [
      undefined,
      'Something went wrong while executing your query on 2026-01-01. Please include `ABCD` when reporting this issue.',
      { kind: 'outage' },
    ],
    [undefined, "Field 'isDraftt' doesn't exist on type 'PullRequest'", { kind: 'refused', status: 422 }],
  ])('an error of type %s with "%s"', (type, message, expected) => {
    expect(failed(type, message)).toMatchObject(expected);
  });

  test.each([[null], [''], ['<html>'], [{}], [{ data: null }], [[]]])('%j is no answer', body => {
    expect(judgeGraphql(graphql(body), NOW)).toMatchObject({ kind: 'outage' });
  });
});

describe('text of the host', () => {
  test('is one bounded line without tokens', () => {
    const text = hostText(
      `a\nb\u0000c ghp_${'x'.repeat(36)} https://u:p@h/ Basic ${'QUJD'.repeat(8)} ${'y'.repeat(9_999)}`,
    );
    expect(text).toMatch(/^a b c \*\*\* https:\/\/\*\*\*@h\/ \*\*\* y+…$/);
    expect(text).toHaveLength(400);
  });
});
