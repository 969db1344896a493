import { createHmac } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { createWebhook } from '../../../../drivers/git/webhook.ts';
import { Secret } from '../../../../src/lib/secret.ts';

const webhook = createWebhook(new Secret('top secret'), 100);
const BODY = Buffer.from('{"project": "acme/app"}');

function sign(body: Uint8Array, token = 'top secret'): string {
  return `sha256=${createHmac('sha256', token).update(body).digest('hex')}`;
}

function send(
  body: Uint8Array,
  headers: Readonly<Record<string, string | readonly string[] | undefined>> = {},
) {
  return webhook.verify(
    { 'x-gatehouse-signature': sign(body), 'content-type': 'application/json', ...headers },
    body,
  );
}

describe('the webhook', () => {
  test('takes a signed body and keeps nothing of it but the project', async () => {
    const body = Buffer.from('{"project":"acme/app","refs":{"refs/heads/master":"lies"}}');
    expect(await send(body, { 'x-gatehouse-delivery': '17-abc' })).toEqual({
      kind: 'accepted',
      event: { type: 'refs-changed', deliveryId: 'delivery-17-abc', payload: { project: 'acme/app' } },
    });
  });

  test('checks the raw bytes: what parses alike is not alike', async () => {
    const signature = sign(BODY);
    expect(
      await send(Buffer.from('{"project":"acme/app"}'), { 'x-gatehouse-signature': signature }),
    ).toMatchObject({ kind: 'refused', status: 401 });
  });

  test('checks bytes that are not text', async () => {
    expect(await send(Buffer.from([0x7b, 0xff, 0xfe, 0x7d]))).toMatchObject({
      kind: 'refused',
      status: 400,
      reason: 'the body is not UTF-8',
    });
  });

  const hex = sign(BODY).slice('sha256='.length);
  test.each([
    ['missing', undefined],
    ['empty', ''],
    ['too short', `sha256=${hex.slice(1)}`],
    ['too long', `sha256=${hex}0`],
    ['not hex', `sha256=${'g'.repeat(64)}`],
    ['of another kind', `sha1=${hex.slice(0, 40)}`],
    ['without its kind', hex],
    ['of another key', sign(BODY, 'guess')],
    ['with its last digit changed', `sha256=${hex.slice(0, -1)}${hex.endsWith('0') ? '1' : '0'}`],
    ['given twice', [sign(BODY), sign(BODY)]],
    ['followed by a line', `sha256=${hex}\n`],
    ['wide characters', `sha256=${'\uff11'.repeat(64)}`],
  ])('refuses a signature that is %s', async (_, signature) => {
    expect(await send(BODY, { 'x-gatehouse-signature': signature })).toMatchObject({
      kind: 'refused',
      status: 401,
    });
  });

  test('takes upper-case hex digits and header names in any case', async () => {
    const headers = { 'X-Gatehouse-Signature': `sha256=${hex.toUpperCase()}` };
    expect(await webhook.verify(headers, BODY)).toMatchObject({ kind: 'accepted' });
  });

  test('gives a replayed delivery the id of the first', async () => {
    expect(await send(BODY, { 'x-gatehouse-delivery': 'a' })).toEqual(
      await send(BODY, { 'x-gatehouse-delivery': 'a' }),
    );
    expect(await send(BODY)).toEqual(await send(BODY));
  });

  test('lets the body stand for a delivery without an id', async () => {
    const other = Buffer.from('{"project": "acme/app", "n": 2}');
    const ids = (await Promise.all([send(BODY), send(other)])).map(verdict =>
      verdict.kind === 'accepted' ? verdict.event.deliveryId : verdict.kind,
    );
    expect(ids).toEqual([
      expect.stringMatching(/^body-[0-9a-f]{32}$/),
      expect.stringMatching(/^body-[0-9a-f]{32}$/),
    ]);
    expect(ids[0]).not.toBe(ids[1]);
  });

  test.each([
    ['not JSON', 'project=acme/app'],
    ['no object', '"acme/app"'],
    ['null', 'null'],
    ['without a project', '{}'],
    ['a project that is no text', '{"project": ["acme/app"]}'],
    ['nested without end', `{"project": ${'['.repeat(100_000)}`],
  ])('refuses a body that is %s', async (_, body) => {
    expect(await send(Buffer.from(body))).toMatchObject({ kind: 'refused', status: 400 });
  });

  test('names the largest body it takes', () => {
    expect(webhook.maxBytes).toBe(1024 * 1024);
  });

  test('refuses forms and odd delivery ids', async () => {
    expect(await send(BODY, { 'content-type': 'application/x-www-form-urlencoded' })).toMatchObject({
      kind: 'refused',
      status: 415,
    });
    expect(await send(BODY, { 'x-gatehouse-delivery': 'a/../b' })).toMatchObject({
      kind: 'refused',
      status: 400,
    });
    expect(await send(BODY, { 'x-gatehouse-delivery': 'a'.repeat(101) })).toMatchObject({
      kind: 'refused',
      status: 400,
    });
  });

  test('ignores what can be no project', async () => {
    expect(await send(Buffer.from('{"project": "../../etc"}'))).toMatchObject({ kind: 'ignored' });
  });

  test('never repeats the token', async () => {
    expect(JSON.stringify([webhook, await send(BODY, { 'x-gatehouse-signature': undefined })])).not.toContain(
      'top secret',
    );
  });
});
