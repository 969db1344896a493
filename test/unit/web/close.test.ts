import { once } from 'node:events';
import { connect } from 'node:net';
import { describe, expect, test } from 'vitest';
import { openHistory } from '../../../src/history/history.ts';
import { fakeWeb } from './fake-web.ts';

describe('stopping', () => {
  test('ends a connection on which nothing was ever asked', async () => {
    const web = await fakeWeb({ limits: { closeTimeout: 60_000 } });
    const socket = connect(Number(new URL(web.url).port), '127.0.0.1');
    await once(socket, 'connect');
    // An answered request on another connection: the server has seen the first one by then.
    await (await fetch(`${web.url}/health/live`)).text();
    const ended = once(socket, 'close');
    await web.close();
    await ended;
  });

  test('lets an answer under way finish', async () => {
    const asked = Promise.withResolvers<void>();
    const answer = Promise.withResolvers<readonly []>();
    const web = await fakeWeb({
      limits: { closeTimeout: 60_000 },
      overrides: {
        leavingItems: () => {
          asked.resolve();
          return answer.promise;
        },
      },
    });
    const response = fetch(`${web.url}/api/tenant/main/item/${'a'.repeat(32)}`);
    await asked.promise;
    const closed = web.close();
    answer.resolve([]);
    expect((await response).status).toBe(404);
    await closed;
  });

  test('warns of no update of the live view that could not be finished', async () => {
    const asked = Promise.withResolvers<void>();
    const durations = Promise.withResolvers<never>();
    const history = await openHistory({ kind: 'sqlite', path: ':memory:' });
    const expectedDuration = () => {
      asked.resolve();
      return durations.promise;
    };
    const web = await fakeWeb({ overrides: { history: { ...history, expectedDuration } } });
    const response = await fetch(`${web.url}/api/tenant/main/events`);
    await asked.promise;
    await web.close();
    durations.reject(new Error('the history is closed'));
    await response.text();
    await history.close();
    expect(web.warnings).toEqual([]);
  });

  test('cuts an answer that takes too long', async () => {
    const asked = Promise.withResolvers<void>();
    const never = Promise.withResolvers<readonly []>();
    const web = await fakeWeb({
      limits: { closeTimeout: 50 },
      overrides: {
        leavingItems: () => {
          asked.resolve();
          return never.promise;
        },
      },
    });
    const response = fetch(`${web.url}/api/tenant/main/item/${'a'.repeat(32)}`);
    const cut = expect(response).rejects.toThrow();
    await asked.promise;
    await web.close();
    await cut;
  });
});
