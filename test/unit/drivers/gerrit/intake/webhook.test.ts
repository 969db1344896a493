/** Webhooks of Gerrit's plug-in: which are authentic, and what is stored. */
import { expect, test } from 'vitest';
import { createGerritWebhook } from '../../../../../drivers/gerrit/intake/webhook.ts';
import { Secret } from '../../../../../src/lib/secret.ts';

const intake = createGerritWebhook({
  tokens: [new Secret('present'), new Secret('previous')],
  ratePerSecond: 10,
});
const EVENT = {
  type: 'comment-added',
  change: { project: 'acme/app', number: 12 },
  patchSet: { number: 2 },
  eventCreatedOn: 1795355569,
};
const send = (event: unknown, headers: { [name: string]: string } = {}, token?: string) =>
  intake.verify(
    { 'content-type': 'application/json; charset=utf-8', ...headers },
    new TextEncoder().encode(typeof event === 'string' ? event : JSON.stringify(event)),
    token === undefined ? undefined : new Secret(token),
  );
const basic = (text: string) => ({ authorization: `Basic ${Buffer.from(text).toString('base64')}` });

test.each<[string, { [name: string]: string }, string | undefined]>([
  ['the present token in its URL', {}, 'present'],
  ['the previous token in its URL', {}, 'previous'],
  ['the token as Bearer', { authorization: 'Bearer present' }, undefined],
  ['the token as password', basic('gerrit:present'), undefined],
])('a webhook with %s is accepted', async (_, headers, token) => {
  expect(await send(EVENT, headers, token)).toMatchObject({
    kind: 'accepted',
    event: {
      type: 'comment-added',
      deliveryId: expect.stringMatching(/^webhook-[0-9a-f]{32}$/),
      payload: {
        foundBy: 'webhook',
        project: 'acme/app',
        about: { kind: 'change', number: 12, patchset: 2 },
      },
    },
  });
});

test.each<[string, { [name: string]: string }, string | undefined]>([
  ['without a token', {}, undefined],
  ['with an empty token', {}, ''],
  ['with another token', {}, 'guess'],
  ['with the beginning of a token', {}, 'presen'],
  ['with another password', basic('present:guess'), undefined],
  ['with a broken header', { authorization: 'Bearer' }, undefined],
])('a webhook %s is refused, and the answer does not show it', async (_, headers, token) => {
  const verdict = await send(EVENT, headers, token);
  expect(verdict).toMatchObject({ kind: 'refused', status: 401 });
  expect(JSON.stringify(verdict)).not.toMatch(/guess|presen[^t]|"present/);
});

test('an equal body is an equal delivery, another one is not', async () => {
  const ids = [];
  for (const event of [EVENT, EVENT, { ...EVENT, eventCreatedOn: 1 }]) {
    const verdict = await send(event, {}, 'present');
    if (verdict.kind === 'accepted') ids.push(verdict.event.deliveryId);
  }
  expect(ids[0]).toBe(ids[1]);
  expect(ids[2]).not.toBe(ids[0]);
});

test.each<[string, unknown, object]>([
  ['of no interest', { type: 'ref-replicated' }, { kind: 'ignored' }],
  ['that is not JSON', '{', { kind: 'refused', status: 400 }],
  ['that is none of Gerrit', { type: 'comment-added' }, { kind: 'refused', status: 400 }],
])('a body %s is answered as such', async (_, event, expected) => {
  expect(await send(event, {}, 'present')).toMatchObject(expected);
});

test('another type is refused', async () => {
  expect(await send(EVENT, { 'content-type': 'text/plain' }, 'present')).toMatchObject({ status: 415 });
});

test('several refs in one event are one reading of the branches', async () => {
  const refUpdates = ['refs/heads/a', 'refs/heads/b'].map(refName => ({ project: 'acme/app', refName }));
  expect(await send({ type: 'batch-ref-updated', refUpdates }, {}, 'present')).toMatchObject({
    event: { payload: { about: { kind: 'project' } } },
  });
});
