/** Rulesets of branches: how often they are asked for. */
import { expect, test } from 'vitest';
import type { GithubAnswer, GithubApi } from '../../../../../drivers/github/api/port.ts';
import { createRulesetReader } from '../../../../../drivers/github/reading/ruleset-reader.ts';

function open() {
  const asked: PromiseWithResolvers<GithubAnswer<never>>[] = [];
  const api = {
    rest: (_operation, _route, _parameters, { signal }) => {
      const answer = Promise.withResolvers<GithubAnswer<never>>();
      signal.addEventListener('abort', () => answer.reject(signal.reason));
      asked.push(answer);
      return answer.promise;
    },
  } as Pick<GithubApi, 'rest'>;
  const lifetime = new AbortController();
  const reader = createRulesetReader(api, { monotonic: () => 0 }, lifetime.signal);
  const read = (branch = 'main', signal = new AbortController().signal) =>
    reader.read(branch, { repository: 'acme/app', weight: 'event', signal });
  return { reader, asked, read, close: () => lifetime.abort(new Error('closed')) };
}

const rules = (...types: string[]) =>
  ({ kind: 'ok', status: 200, data: types.map(type => ({ type })) }) as unknown as GithubAnswer<never>;

test('events that come at once share one request for each branch', async () => {
  const { asked, read } = open();
  const reads = [read(), read(), read('next')];
  expect(asked).toHaveLength(2);
  for (const each of asked) each.resolve(rules('update'));
  for (const each of await Promise.all(reads)) expect(each).toMatchObject(rules('update'));
  await read();
  expect(asked).toHaveLength(2);
});

test('an event that is given up leaves the request to the others', async () => {
  const { asked, read } = open();
  const giveUp = new AbortController();
  const first = read('main', giveUp.signal);
  const second = read();
  giveUp.abort(new Error('another scheduler has the connection'));
  await expect(first).rejects.toThrow('another scheduler');
  asked[0]?.resolve(rules('update'));
  expect(await second).toMatchObject(rules('update'));
});

test('a request ends with the connection, at the latest', async () => {
  const { asked, read, close } = open();
  const wait = read();
  close();
  await expect(asked[0]?.promise).rejects.toThrow('closed');
  await expect(wait).rejects.toThrow('closed');
});

test('an answer that was asked for before the rules changed is neither shared nor remembered', async () => {
  const { reader, asked, read } = open();
  const before = read();
  reader.forget('acme/app');
  const after = read();
  expect(asked).toHaveLength(2);
  asked[1]?.resolve(rules('update'));
  asked[0]?.resolve(rules());
  expect([await before, await after]).toMatchObject([rules(), rules('update')]);
  expect(await read()).toMatchObject(rules('update'));
  expect(asked).toHaveLength(2);
});

test('more rules than a page holds are all read', async () => {
  const { asked, read } = open();
  const answer = read();
  const page = (count: number, type: string) => rules(...Array.from({ length: count }, () => type));
  asked[0]?.resolve(page(100, 'update'));
  await expect.poll(() => asked).toHaveLength(2);
  asked[1]?.resolve(page(1, 'required_signatures'));
  expect(await answer).toMatchObject({
    kind: 'ok',
    data: expect.arrayContaining([{ type: 'required_signatures' }]),
  });
  const cut = read('next');
  asked[2]?.resolve(page(100, 'update'));
  await expect.poll(() => asked).toHaveLength(4);
  asked[3]?.resolve({ kind: 'later', later: { reason: 'unreachable', text: 'away' } });
  expect(await cut).toMatchObject({ kind: 'later' });
});
