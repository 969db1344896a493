import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { ComponentsJson } from '../../../src/api/components.ts';
import type { LabelNames } from '../../../src/model/layout.ts';
import { postByPort, postBySocket } from './ask-web.ts';
import { type FakeWeb, fakeWeb, sampleSnapshot } from './fake-web.ts';
import { at } from './sample-item.ts';

let web: FakeWeb;

beforeAll(async () => {
  web = await fakeWeb();
});
beforeEach(() => {
  web.contact = { kind: 'connected' };
  web.asked.length = 0;
});
afterAll(() => web.close());

function ask(path: string, headers: Record<string, string> = {}) {
  return postBySocket(web, `components/${path}`, { headers });
}

describe('/api/components', () => {
  test('answers every kind with its components, under the names Zuul uses', async () => {
    const answer = await fetch(`${web.url}/api/components`);
    const body = (await answer.json()) as ComponentsJson;
    expect(Object.keys(body)).toEqual(['scheduler', 'merger', 'executor', 'web']);
    expect(body.merger).toEqual([]);
    expect(body.executor).toEqual([
      {
        hostname: 'ci2',
        state: 'paused',
        version: '0.1.0',
        gatehouse: {
          id: 'executor-4',
          pid: 12,
          started_at: expect.any(Number),
          labels: ['linux'],
          ansible_versions: ['9', '11'],
          zone: null,
          allow_unzoned: false,
          address: 'http://ci2:9443',
          wanted: 'paused',
          trouble: null,
          walls: [{ name: 'cpu', state: 'missing', text: 'this system has no cgroup v2' }],
        },
      },
    ]);
    expect(body.web?.[0]?.gatehouse.walls).toEqual([]);
  });

  test.each([
    ['pause', 'paused'],
    ['resume', 'running'],
    ['stop', 'stopping'],
  ])('%s is stored for the component and answered 202', async (action, wanted) => {
    const answer = await ask(`executor-4/${action}`);
    expect(answer.status).toBe(202);
    expect(await answer.json()).toEqual({ id: 'executor-4', wanted });
    expect(web.asked).toEqual([`executor-4 ${wanted}`]);
  });

  test('what cannot be asked is refused with the reason', async () => {
    const error = async (answer: Promise<Response>) => {
      const { status, body } = {
        status: (await answer).status,
        body: (await (await answer).json()) as { error: string },
      };
      return `${status} ${body.error}`;
    };
    expect(await error(ask('executor-9/pause'))).toBe(
      '404 there is no component "executor-9"; there are: scheduler-0, executor-4, web-2',
    );
    expect(await error(ask('executor-4/explode'))).toBe(
      '404 there is no action "explode"; there are: pause, resume, stop',
    );
    expect(await error(ask('web-2/pause'))).toBe('400 a web cannot be paused or resumed, only stopped');
    expect(await error(ask('executor-4/pause', { 'content-type': 'text/plain' }))).toBe(
      '415 send application/json',
    );
    expect(await error(postByPort(web, 'components/executor-4/pause'))).toMatch(
      /^401 a token is needed to pause a component: /,
    );
    expect((await fetch(`${web.url}/api/components/executor-4/pause`)).status).toBe(405);
    expect(web.asked).toEqual([]);
  });
});

describe('contact with the store', () => {
  test('answers that may be old say since when', async () => {
    web.contact = { kind: 'away', since: at(0) };
    const answer = await fetch(`${web.url}/api/tenant/main/status`);
    expect(answer.status).toBe(200);
    expect(answer.headers.get('x-store-away-since')).toMatch(/GMT$/);
  });

  test('what was never read is not made up', async () => {
    web.contact = { kind: 'never', reason: 'waiting for ZooKeeper at zk1:2181' };
    for (const path of ['tenants', 'tenant/main/status', 'tenant/main/builds', 'components'])
      expect([path, (await fetch(`${web.url}/api/${path}`)).status]).toEqual([path, 503]);
    expect((await fetch(`${web.url}/api/info`)).status).toBe(200);
  });
});

test.each<[Partial<LabelNames>, readonly string[]]>([
  [{}, ['linux']],
  [{ allowedLabels: ['lin.*'] }, ['linux']],
  [{ allowedLabels: ['big'] }, []],
  [{ disallowedLabels: ['linux'] }, []],
])('labels are those that the jobs of a tenant may ask for (%j)', async (rules, names) => {
  web.change({ ...sampleSnapshot(), labels: { name: 'main', ...rules } });
  const answer = await fetch(`${web.url}/api/tenant/main/labels`);
  expect(await answer.json()).toEqual(names.map(name => ({ name })));
});
