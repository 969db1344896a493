import { afterEach, beforeEach, expect, test } from 'vitest';
import { CallLost } from '../../../src/lib/worker-calls.ts';
import { type FakeWeb, fakeWeb } from './fake-web.ts';

let web: FakeWeb;
beforeEach(async () => {
  web = await fakeWeb();
});
afterEach(() => web.close());

test.each([
  ['time', 'the query takes too long; narrow it'],
  ['busy', 'too many queries of the history; try again later'],
] as const)(
  'a query of the history that is lost for %s is answered with 503 and when to come again',
  async (because, text) => {
    const builds = () => Promise.reject(new CallLost(because, 'lost'));
    Object.assign(web.history, { builds });
    const answer = await fetch(`${web.url}/api/tenant/main/builds?branch=*`);
    expect(answer.status).toBe(503);
    expect(answer.headers.get('retry-after')).toBe('10');
    expect(await answer.json()).toMatchObject({ error: expect.stringContaining(text), place: 'history' });
    expect(web.warnings).toEqual(['a query of the history was aborted']);
  },
);
