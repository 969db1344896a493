import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { openGerritClient } from '../../../../../drivers/gerrit/api/open-client.ts';
import { NotHolder } from '../../../../../src/driver/not-holder.ts';
import { systemClock, toMilliseconds } from '../../../../../src/lib/clock.ts';
import { Secret } from '../../../../../src/lib/secret.ts';
import { answerJson, answerText, PASSWORD, startGerritServer } from './gerrit-server.ts';

const BASIC = `Basic ${Buffer.from(`ci:${PASSWORD}`).toString('base64')}`;

describe('a request to Gerrit', () => {
  test('goes below /a/ with the account, and its JSON comes back without the prefix', async () => {
    await using server = await startGerritServer(
      (_request, response) => answerJson(response, { _number: 12 }),
      {
        path: '/r',
      },
    );
    expect(await server.get('changes/acme%2Fapp~12/detail?o=LABELS')).toEqual({
      kind: 'ok',
      status: 200,
      data: { _number: 12 },
    });
    expect(server.asked).toMatchObject([
      { method: 'GET', url: '/r/a/changes/acme%2Fapp~12/detail?o=LABELS', headers: { authorization: BASIC } },
    ]);
    expect(server.notes).toEqual([undefined]);
  });

  test('has a step with operation, status and size, and nothing secret in it', async () => {
    await using server = await startGerritServer((_request, response) => answerJson(response, {}));
    await server.get();
    // On a busy machine it may have waited for its place before.
    expect(server.steps.filter(({ kind }) => kind !== 'HostWait')).toMatchObject([
      {
        kind: 'HostQuery',
        subject: 'changes/detail acme/app',
        facts: { query: 'changes/detail', connection: 'review', method: 'GET', status: 200, bytes: 8 },
      },
    ]);
    expect(JSON.stringify(server.steps)).not.toContain(PASSWORD);
  });

  test('sends a body as JSON, and takes an answer without one', async () => {
    await using server = await startGerritServer((_request, response) => response.writeHead(204).end());
    expect(await server.post()).toEqual({ kind: 'ok', status: 204, data: null });
    expect(server.asked).toMatchObject([
      {
        method: 'POST',
        body: '{"labels":{}}',
        headers: { 'content-type': 'application/json; charset=UTF-8' },
      },
    ]);
  });

  test('unpacks an answer, on a connection that is kept for the next read', async () => {
    const packed = gzipSync(`)]}'\n${JSON.stringify({ text: 'x'.repeat(50_000) })}`);
    await using server = await startGerritServer((_request, response) =>
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(packed),
    );
    for (let round = 0; round < 3; round += 1)
      expect(await server.get()).toMatchObject({ kind: 'ok', data: { text: 'x'.repeat(50_000) } });
    expect(server.connections.count).toBe(1);
    expect(server.steps[0]?.facts?.bytes).toBe(packed.byteLength);
  });

  test('is proven by a token or a cookie as well', async () => {
    const bearer = { kind: 'bearer', token: new Secret('canary-token') } as const;
    await using first = await startGerritServer((_request, response) => answerJson(response, 1), {
      auth: bearer,
    });
    await first.get();
    expect(first.asked[0]?.headers.authorization).toBe('Bearer canary-token');
    const cookie = { kind: 'cookie', cookie: new Secret('o=git-ci=1//0abc') } as const;
    await using second = await startGerritServer((_request, response) => answerJson(response, 1), {
      auth: cookie,
    });
    await second.get();
    expect(second.asked[0]?.headers).toMatchObject({ cookie: 'o=git-ci=1//0abc' });
    expect(second.asked[0]?.headers).not.toHaveProperty('authorization');
  });
});

test('a request without an account goes to the root, for what is public', async () => {
  await using server = await startGerritServer((_request, response) => answerJson(response, 1), {
    auth: { kind: 'none' },
  });
  expect(await server.get('changes/1')).toMatchObject({ kind: 'ok' });
  expect(server.asked[0]?.url).toBe('/changes/1');
  expect(server.asked[0]?.headers).not.toHaveProperty('authorization');
});

describe('a refusal', () => {
  test.each([
    [404, 'Not found: 99999\n', 'Not found: 99999'],
    [403, 'Applying label "Verified": 2 is restricted', 'Applying label "Verified": 2 is restricted'],
    [
      409,
      'Failed to submit 1 change:\r\nChange 12: needs Verified\n',
      'Failed to submit 1 change:\nChange 12: needs Verified',
    ],
    [412, '', 'status 412 without a reason'],
    [400, `a\u001b[31mb\u0000 ${PASSWORD}`, 'a [31mb  ***'],
  ])('with %i has the text of Gerrit, and nothing else', async (status, sent, text) => {
    await using server = await startGerritServer((_request, response) => answerText(response, status, sent));
    expect(await server.get()).toEqual({ kind: 'refused', status, text });
    expect(server.asked).toHaveLength(1);
  });

  test('is cut at 1 000 characters', async () => {
    await using server = await startGerritServer((_request, response) =>
      answerText(response, 409, 'x'.repeat(90_000)),
    );
    const answer = await server.get();
    expect(answer.kind === 'refused' && answer.text.length).toBe(1_000);
  });
});

describe('an account that Gerrit does not accept', () => {
  test.each([
    [401, 'Unauthorized'],
    [403, 'Authentication required'],
  ])('is no verdict on what was asked (%i)', async (status, text) => {
    await using server = await startGerritServer((_request, response) =>
      answerText(response, status, text, { 'www-authenticate': 'Basic realm="Gerrit Code Review"' }),
    );
    for (const answer of [await server.get(), await server.post()])
      expect(answer).toMatchObject({
        kind: 'later',
        later: { reason: 'denied', text: expect.stringContaining(text) },
      });
    expect(server.asked).toHaveLength(2);
    expect(server.notes[0]?.reason).toBe('denied');
  });
});

describe('an answer that is none of Gerrit', () => {
  test.each([
    [200, 'text/html', '<!DOCTYPE html><title>Sign in</title>'],
    [404, 'text/html', '<html>nginx</html>'],
    [200, 'application/json', '{"ok":true}'],
    [200, 'application/json', ')]}\'\n{"half'],
  ])('with %i (%s: %s) comes later', async (status, type, body) => {
    await using server = await startGerritServer((_request, response) =>
      response.writeHead(status, { 'content-type': type }).end(body),
    );
    expect(await server.get()).toMatchObject({
      kind: 'later',
      later: { reason: 'other', text: expect.stringContaining('is baseurl right') },
    });
  });

  test('to a write may be a success whose answer was lost', async () => {
    await using server = await startGerritServer((_request, response) => response.end('hello'));
    expect(await server.post()).toMatchObject({ kind: 'lost' });
  });

  test('such as a redirect to a login is not followed, and its query is not shown', async () => {
    await using server = await startGerritServer((_request, response) =>
      response.writeHead(302, { location: 'https://sso.example.org/login?token=abc' }).end(),
    );
    const answer = await server.get();
    expect(answer).toMatchObject({
      later: { text: expect.stringContaining('https://sso.example.org/login came') },
    });
    expect(JSON.stringify(answer)).not.toContain('abc');
  });
});

describe('an outage', () => {
  test('of a read is tried three times, with growing pauses that are steps', async () => {
    const pauses: number[] = [];
    await using server = await startGerritServer(
      (_request, response) => answerText(response, 500, 'Internal server error'),
      { deps: { pause: async ms => void pauses.push(ms) } },
    );
    expect(await server.get()).toMatchObject({
      kind: 'later',
      later: { reason: 'unreachable', text: 'Gerrit answered 500: Internal server error' },
    });
    expect([server.asked.length, pauses]).toEqual([3, [250, 500]]);
    expect(server.steps.map(({ kind }) => kind)).toEqual([
      'HostQuery',
      'HostWait',
      'HostQuery',
      'HostWait',
      'HostQuery',
    ]);
    expect(server.steps.at(-1)?.facts).toMatchObject({ resends: 2 });
  });

  test('that ends meanwhile is not noticed', async () => {
    await using server = await startGerritServer((request, _response) => request.socket.destroy());
    const answer = server.get();
    await server.count(1);
    server.answer((_request, response) => answerJson(response, 7));
    expect(await answer).toMatchObject({ kind: 'ok', data: 7 });
  });

  test('of a write that was sent leaves open whether it happened, and it is not sent again', async () => {
    await using server = await startGerritServer((request, _response) => request.socket.destroy());
    expect(await server.post()).toMatchObject({ kind: 'lost', later: { reason: 'unreachable' } });
    server.answer((_request, response) => answerText(response, 502, 'Bad gateway'));
    expect(await server.post()).toMatchObject({ kind: 'lost' });
    expect(server.asked).toHaveLength(2);
  });

  test('of a write that never left is no question', async () => {
    const gone = await startGerritServer(() => {});
    const { baseUrl } = gone;
    await gone[Symbol.asyncDispose]();
    const client = openGerritClient(
      { baseUrl, auth: { kind: 'bearer', token: new Secret('t') }, verifySsl: true, concurrency: 1 },
      { connection: 'review', clock: systemClock(), pause: async () => {}, noted: () => {}, asked: () => {} },
    );
    const request = { operation: 'changes/review', method: 'POST', path: 'changes/1/review' } as const;
    expect(await client.api.ask(request, gone.call())).toMatchObject({
      kind: 'later',
      later: { reason: 'unreachable', text: 'Gerrit cannot be reached: ECONNREFUSED' },
    });
  });

  test('with a time to come back is not tried before', async () => {
    await using server = await startGerritServer((_request, response) =>
      answerText(response, 503, 'restarting', { 'retry-after': '120' }),
    );
    const answer = await server.get();
    expect(server.asked).toHaveLength(1);
    const notBefore = answer.kind === 'later' ? answer.later.notBefore : undefined;
    expect(notBefore && toMilliseconds(notBefore) - Date.now()).toBeGreaterThan(60_000);
    server.answer((_request, response) => answerText(response, 429, 'Quota exceeded'));
    expect(await server.post()).toMatchObject({ kind: 'later', later: { reason: 'limited' } });
  });

  test('of a server that hangs ends at the deadline', async () => {
    await using server = await startGerritServer(() => {}, {
      deps: { deadlinesMs: { read: 50, write: 50, place: 5_000 } },
    });
    expect(await server.get()).toMatchObject({ kind: 'later', later: { reason: 'timeout' } });
    expect(await server.post()).toMatchObject({ kind: 'lost', later: { reason: 'timeout' } });
  });

  test('by an answer without end is cut off, packed or not', async () => {
    await using server = await startGerritServer(
      (_request, response) => response.end(`)]}'"${'x'.repeat(300_000)}"`),
      {
        deps: { mostBytes: 100_000 },
      },
    );
    const text = 'the answer has more than 100000 bytes';
    expect(await server.get()).toEqual({ kind: 'refused', status: 413, text });
    expect(await server.post()).toMatchObject({ kind: 'lost', later: { reason: 'too-large' } });
    server.answer((_request, response) =>
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(Buffer.alloc(50_000_000))),
    );
    expect(await server.get()).toEqual({ kind: 'refused', status: 413, text });
    expect(server.asked).toHaveLength(3);
  });

  test('ends with the signal of the caller', async () => {
    await using server = await startGerritServer(() => {});
    const stop = new AbortController();
    const answer = server.get('changes/1/detail', { signal: stop.signal });
    await server.count(1);
    stop.abort(new Error('enough'));
    await expect(answer).rejects.toThrow('enough');
  });
});

test('a closed client ends its calls', async () => {
  await using server = await startGerritServer(() => {});
  const answer = server.get();
  await server.count(1);
  server.client.close();
  await expect(answer).rejects.toThrow('the connection is closed');
});

test('a process that may not act any more sends no write', async () => {
  await using server = await startGerritServer((_request, response) => answerJson(response, 1));
  await expect(server.post({ mayAct: () => false })).rejects.toThrow(NotHolder);
  expect(server.asked).toEqual([]);
  expect(await server.get('changes/1/detail', { mayAct: () => false })).toMatchObject({ kind: 'ok' });
});

test('an option that an older Gerrit does not know is left out from then on', async () => {
  await using server = await startGerritServer((request, response) => {
    if (request.url?.includes('SUBMIT_REQUIREMENTS'))
      answerText(response, 400, '"SUBMIT_REQUIREMENTS" is not a valid value for "-o"');
    else answerJson(response, 1);
  });
  for (const path of [
    'changes/1/detail?o=LABELS&o=SUBMIT_REQUIREMENTS&o=MESSAGES',
    'changes/2?o=SUBMIT_REQUIREMENTS&o=X',
  ])
    expect(await server.get(path)).toMatchObject({ kind: 'ok' });
  expect(await server.get('changes/3?o=SUBMIT_REQUIREMENTS')).toMatchObject({ kind: 'ok' });
  expect(server.asked.map(({ url }) => url)).toEqual([
    '/a/changes/1/detail?o=LABELS&o=SUBMIT_REQUIREMENTS&o=MESSAGES',
    '/a/changes/1/detail?o=LABELS&o=MESSAGES',
    '/a/changes/2?o=X',
    '/a/changes/3',
  ]);
});

test('a project whose requests hang does not stop the others', async () => {
  await using server = await startGerritServer(
    (request, response) => {
      if (!request.url?.includes('slow')) answerJson(response, 1);
    },
    { concurrency: 4 },
  );
  const stop = new AbortController();
  const slow = Array.from({ length: 20 }, () =>
    server.get('changes/slow', { project: 'acme/slow', signal: stop.signal }).catch(() => 'stopped'),
  );
  await server.count(2);
  for (let round = 0; round < 5; round += 1)
    expect(await server.get('changes/1', { project: 'acme/app' })).toMatchObject({ kind: 'ok' });
  expect(server.asked.filter(({ url }) => url.includes('slow'))).toHaveLength(2);
  stop.abort(new Error('enough'));
  expect(await Promise.all(slow)).toEqual(slow.map(() => 'stopped'));
});

test('a call that finds no place for long comes later', async () => {
  await using server = await startGerritServer(() => {}, {
    concurrency: 1,
    deps: { deadlinesMs: { read: 60_000, write: 60_000, place: 40 } },
  });
  const first = server.get().catch(() => undefined);
  await server.count(1);
  expect(await server.post()).toMatchObject({ kind: 'later', later: { reason: 'timeout' } });
  server.client.close();
  await first;
});
