import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { digestHeader, readDigestChallenge } from '../../../../../drivers/gerrit/api/digest.ts';
import { Secret } from '../../../../../src/lib/secret.ts';
import { type AnswerRequest, answerJson, answerText, PASSWORD, startGerritServer } from './gerrit-server.ts';

/** The example of RFC 7616, 3.9.1. */
const RFC = {
  user: 'Mufasa',
  password: 'Circle of Life',
  method: 'GET',
  uri: '/dir/index.html',
  count: 1,
  cnonce: 'f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ',
};
const challengeOf = (algorithm: string) =>
  `Digest realm="http-auth@example.org", qop="auth, auth-int", algorithm=${algorithm}, nonce="7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v", opaque="FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS"`;

describe('digest authentication', () => {
  test.each([
    ['MD5', '8ca523f5e9506fed4657c9700eebdbec'],
    ['SHA-256', '753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1'],
  ])('answers with %s as RFC 7616 shows', (algorithm, response) => {
    const challenge = readDigestChallenge(challengeOf(algorithm));
    const header = challenge && digestHeader(challenge, RFC);
    expect(header).toContain(`response="${response}"`);
    expect(header).toContain('qop=auth, nc=00000001');
    expect(header).toContain('opaque="FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS"');
  });

  test('prefers the stronger of several challenges, and passes by what it cannot meet', () => {
    const both = `Basic realm="x", ${challengeOf('MD5')}, ${challengeOf('SHA-256')}`;
    expect(readDigestChallenge(both)).toMatchObject({ algorithm: 'SHA-256', isStale: false });
    expect(readDigestChallenge('Basic realm="Gerrit Code Review"')).toBeNull();
    expect(readDigestChallenge(challengeOf('SHA-512-256'))).toBeNull();
    expect(readDigestChallenge('Digest realm="a\\"b", nonce="n", stale=TRUE')).toEqual({
      realm: 'a"b',
      nonce: 'n',
      opaque: null,
      algorithm: 'MD5',
      hasQop: false,
      isStale: true,
    });
    expect(readDigestChallenge('')).toBeNull();
  });
});

const REALM = 'Gerrit Code Review';
const md5 = (text: string) => createHash('md5').update(text).digest('hex');

/** A server with digest authentication, whose nonce serves so many times. */
function digestServer(uses: number, password = PASSWORD): AnswerRequest {
  let nonce = 1;
  let counted = 0;
  return (request, response) => {
    const sent = new Map(
      [...(request.headers.authorization ?? '').matchAll(/(\w+)="?([^",]*)"?/g)].map(([, name, value]) => [
        name,
        value,
      ]),
    );
    const isCurrent = sent.get('nonce') === `n${nonce}` && counted < uses;
    const a1 = md5(`ci:${REALM}:${password}`);
    const a2 = md5(`${request.method}:${request.url}`);
    const expected = md5(`${a1}:${sent.get('nonce')}:${sent.get('nc')}:${sent.get('cnonce')}:auth:${a2}`);
    if (
      isCurrent &&
      sent.get('response') === expected &&
      Number.parseInt(sent.get('nc') ?? '', 16) === counted + 1
    ) {
      counted += 1;
      return answerJson(response, { nc: counted });
    }
    const isStale = sent.has('nonce') && !isCurrent;
    if (!isCurrent && sent.has('nonce')) {
      nonce += 1;
      counted = 0;
    }
    answerText(response, 401, 'Unauthorized', {
      'www-authenticate': `Digest realm="${REALM}", qop="auth", nonce="n${nonce}"${isStale ? ', stale=true' : ''}`,
    });
  };
}

const AUTH = { kind: 'digest', user: 'ci', password: new Secret(PASSWORD) } as const;

describe('a Gerrit with digest authentication', () => {
  test('is asked twice at first, and then with the nonce that it gave, until it is stale', async () => {
    await using server = await startGerritServer(digestServer(2), { auth: AUTH });
    // A connection that was closed meanwhile is no answer, and is opened again.
    const statuses = () => server.steps.flatMap(({ facts }) => facts?.status ?? []);
    expect(await server.get('changes/1?o=A')).toMatchObject({ kind: 'ok', data: { nc: 1 } });
    expect(await server.post()).toMatchObject({ kind: 'ok', data: { nc: 2 } });
    expect(statuses()).toEqual([401, 200, 200]);
    expect(await server.post()).toMatchObject({ kind: 'ok', data: { nc: 1 } });
    expect(statuses()).toEqual([401, 200, 200, 401, 200]);
    expect(JSON.stringify(server.asked)).not.toContain(PASSWORD);
  });

  test('that does not accept the password is not asked for ever', async () => {
    await using server = await startGerritServer(digestServer(9, 'another'), { auth: AUTH });
    expect(await server.get()).toMatchObject({ kind: 'later', later: { reason: 'denied' } });
    expect(server.asked).toHaveLength(2);
  });

  test('serves many requests at a time', async () => {
    await using server = await startGerritServer(
      (request, response) => {
        if (request.headers.authorization === undefined)
          return answerText(response, 401, 'Unauthorized', {
            'www-authenticate': `Digest realm="${REALM}", qop="auth", nonce="n"`,
          });
        answerJson(response, request.headers.authorization.match(/nc=(\w+)/)?.[1]);
      },
      { auth: AUTH },
    );
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, index) => server.get(`changes/${index}`)),
    );
    expect(answers.every(({ kind }) => kind === 'ok')).toBe(true);
    expect(new Set(answers.map(answer => answer.kind === 'ok' && answer.data)).size).toBe(8);
  });
});
