/** Webhooks of GitHub: who may send them, and which are stored. */
import { createHmac } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { createGithubWebhook } from '../../../../../drivers/github/intake/webhook.ts';
import { fromMilliseconds } from '../../../../../src/lib/clock.ts';
import { Secret } from '../../../../../src/lib/secret.ts';

const GUID = '72D3162e-cc78-11e3-81ab-4c9367dc0958';
const intake = createGithubWebhook({
  secrets: [new Secret('present'), new Secret('previous')],
  ratePerSecond: 100,
  appId: 7,
});

const OPENED = {
  action: 'opened',
  number: 1,
  pull_request: { number: 1, updated_at: '2026-01-02T03:04:05Z', title: 'x' },
  repository: { full_name: 'acme/app' },
  sender: { login: 'alice' },
};

function signature(body: string | Uint8Array, secret = 'present'): string {
  return `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`;
}

function send(body: string | Uint8Array, headers: { [name: string]: string | undefined } = {}) {
  const bytes = typeof body === 'string' ? new TextEncoder().encode(body) : body;
  const all = {
    'content-type': 'application/json',
    'x-github-event': 'pull_request',
    'x-github-delivery': GUID,
    'x-hub-signature-256': signature(bytes),
    ...headers,
  };
  return intake.verify(all, bytes);
}

describe('a signature', () => {
  const body = JSON.stringify(OPENED);

  test('of the present secret is accepted, and the delivery id is the GUID', async () => {
    expect(await send(body)).toEqual({
      kind: 'accepted',
      event: {
        type: 'pull_request',
        deliveryId: GUID.toLowerCase(),
        action: 'opened',
        madeAt: fromMilliseconds(Date.UTC(2026, 0, 2, 3, 4, 5)),
        payload: {
          event: 'pull_request',
          action: 'opened',
          repository: 'acme/app',
          installation: null,
          actor: 'alice',
          at: Date.UTC(2026, 0, 2, 3, 4, 5),
          about: { kind: 'pull', number: 1, updatedAt: Date.UTC(2026, 0, 2, 3, 4, 5) },
        },
      },
    });
  });

  test('of the previous secret is accepted while secrets are rotated', async () => {
    const verdict = await send(body, { 'x-hub-signature-256': signature(body, 'previous') });
    expect(verdict.kind).toBe('accepted');
  });

  test('covers the bytes, a byte order mark included', async () => {
    const marked = `\u{feff}${body}`;
    expect((await send(marked)).kind).toBe('refused');
    expect(await send(marked)).toMatchObject({ status: 400 });
    expect(await send(marked, { 'x-hub-signature-256': signature(body) })).toMatchObject({ status: 401 });
  });

  const sha1 = `sha1=${createHmac('sha1', 'present').update(body).digest('hex')}`;
  test.each([
    ['of another secret', { 'x-hub-signature-256': signature(body, 'guess') }, /does not match/],
    ['of other bytes', { 'x-hub-signature-256': signature(`${body} `) }, /does not match/],
    ['that is missing', { 'x-hub-signature-256': undefined }, /missing: set a secret/],
    ['of SHA-1 alone', { 'x-hub-signature-256': undefined, 'x-hub-signature': sha1 }, /SHA-1/],
    ['that is there twice', { 'X-Hub-Signature-256': signature(body) }, /missing/],
    ['that was joined', { 'x-hub-signature-256': `${signature(body)}, ${signature(body)}` }, /missing/],
    ['of another form', { 'x-hub-signature-256': 'sha256=00' }, /64 hex digits/],
  ])('%s is refused, and the right one is not answered', async (_, headers, reason) => {
    const verdict = await send(body, headers);
    expect(verdict).toMatchObject({ kind: 'refused', status: 401, reason: expect.stringMatching(reason) });
    expect(JSON.stringify(verdict)).not.toContain(signature(body).slice(7));
  });

  test('of an empty body is refused', async () => {
    expect(await send('')).toMatchObject({ kind: 'refused', status: 401 });
  });

  test('of the same fields in another order is refused', async () => {
    const { action, ...rest } = OPENED;
    const verdict = await send(JSON.stringify({ ...rest, action }), {
      'x-hub-signature-256': signature(body),
    });
    expect(verdict).toMatchObject({ kind: 'refused', status: 401 });
  });
});

describe('a signed webhook', () => {
  test('that is a form is refused with advice', async () => {
    const verdict = await send('payload=%7B%7D', { 'content-type': 'application/x-www-form-urlencoded' });
    expect(verdict).toMatchObject({ status: 415, reason: expect.stringContaining('application/json') });
  });

  test.each([
    ['without an event', { 'x-github-event': undefined }],
    ['without a GUID', { 'x-github-delivery': undefined }],
    ['with a GUID that is a path', { 'x-github-delivery': '../../x' }],
  ])('%s is refused', async (_, headers) => {
    expect(await send(JSON.stringify(OPENED), headers)).toMatchObject({ kind: 'refused', status: 400 });
  });

  test.each(['[]', '"text"', '{"action": ', '{"action": nope}'])('that is %s is refused', async body => {
    expect(await send(body)).toMatchObject({ kind: 'refused', status: 400 });
  });

  test.each(['ping', 'star', 'fork', 'workflow_job', 'event_of_tomorrow', 'constructor'])(
    'of event %s is ignored',
    async event => {
      const verdict = await send('{"zen": "x"}', { 'x-github-event': event });
      expect(verdict).toMatchObject({ kind: 'ignored', reason: expect.any(String) });
    },
  );

  test('of 24 MB costs no more than its signature and one pass over its bytes', async () => {
    const zeros = '0'.repeat(40);
    const commit = { id: zeros, message: 'x'.repeat(1_000), added: ['a"\\{[,'], author: { name: 'Ann' } };
    const body = new TextEncoder().encode(
      JSON.stringify({
        ref: 'refs/heads/main',
        commits: Array.from({ length: 20_000 }, () => commit),
        before: zeros,
        after: '1'.repeat(40),
        repository: { full_name: 'acme/app' },
      }),
    );
    expect(body.byteLength).toBeGreaterThan(22_000_000);
    const headers = { 'x-github-event': 'push', 'x-hub-signature-256': signature(body) };
    const once = await least(() => void passOver(body));
    const all = await least(() => send(body, headers));
    expect(await send(body, headers)).toMatchObject({
      kind: 'accepted',
      event: { payload: { about: { kind: 'ref', before: null, after: '1'.repeat(40) } } },
    });
    // About twice that.
    expect(all).toBeLessThan(6 * once);
  });
});

/** @returns milliseconds of processor time: the least of five, for other threads of the process count as well. */
async function least(work: () => unknown): Promise<number> {
  const times: number[] = [];
  for (let number = 0; number < 5; number += 1) {
    const before = process.cpuUsage();
    await work();
    const { user, system } = process.cpuUsage(before);
    times.push((user + system) / 1_000);
  }
  return Math.min(...times);
}

/** The signature, and one pass over the bytes. */
function passOver(body: Uint8Array): number {
  let quotes = signature(body).length;
  for (let at = 0; at < body.length; at += 1) if (body[at] === 0x22) quotes += 1;
  return quotes;
}
