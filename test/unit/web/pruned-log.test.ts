import { expect, test } from 'vitest';
import { addMilliseconds } from '../../../src/lib/clock.ts';
import { fakeWeb } from './fake-web.ts';
import { NOW } from './sample-gate.ts';

test('a log that is gone for its age is said to be pruned, and after how long; a younger one is not', async () => {
  const day = 86_400;
  const web = await fakeWeb({ overrides: { keepLogs: 30 * day } });
  try {
    const list = await fetch(`${web.url}/api/tenant/main/builds?result=SUCCESS&limit=1`);
    const [build] = (await list.json()) as readonly { readonly uuid: string }[];
    const log = () => fetch(`${web.url}/api/tenant/main/build/${build?.uuid}/log`);
    expect((await log()).status).toBe(404);

    web.setNow(addMilliseconds(NOW, 31 * day * 1000));
    const answer = await log();
    expect(answer.status).toBe(410);
    expect(await answer.json()).toMatchObject({
      error: 'the log of this build was pruned after 30 days ([executor] keep_logs)',
      place: 'path: build',
    });
  } finally {
    await web.close();
  }
});
