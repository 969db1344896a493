/** A stranger behind a reverse proxy that sets no headers: for the service, a loopback connection for a loopback host. */
import { expect } from 'vitest';
import { otlpJson } from '../../src/web/otlp-json.ts';
import { startNginx } from '../fake/nginx.ts';
import { describeOnNginx } from '../setup/nginx.ts';
import { runCommand } from './demo-story.ts';
import { classicLayout } from './layouts.ts';
import { TENANT } from './site.ts';
import { story } from './story.ts';
import type { World } from './world.ts';

async function states(world: World): Promise<readonly string[]> {
  const kinds = await world.api.get<Record<string, readonly { state: string }[]>>('/api/components');
  return Object.entries(kinds).flatMap(([kind, all]) => all.map(({ state }) => `${kind} ${state}`));
}

const RUNNING = ['scheduler running', 'merger running', 'executor running', 'web running'];

describeOnNginx('behind a plain proxy', program => {
  story(
    'a stranger changes nothing, and the operator of the machine does',
    { layout: classicLayout({ notes: false }) },
    async world => {
      await using proxy = await startNginx(program, world.service.url);
      await world.propose('A');
      await world.approve('A');
      await world.runs('project-merge: A');

      const ids = ['scheduler-0', 'merger-0', 'executor-0', 'web-0'];
      const attacks: [path: string, body: unknown][] = [
        ...ids.flatMap(id =>
          ['pause', 'stop'].map((request): [string, unknown] => [`components/${id}/${request}`, {}]),
        ),
        [`tenant/${TENANT}/project/org/project/dequeue`, { pipeline: 'gate', change: 'master/A' }],
        ['otlp/v1/traces', otlpJson([], '1', 'gatehouse-cli')],
      ];
      const guises: Record<string, string>[] = [
        {},
        { 'x-forwarded-for': '127.0.0.1', 'x-real-ip': '127.0.0.1', forwarded: 'for=127.0.0.1' },
        { 'user-agent': 'gatehouse-cli/0.4.0' },
      ];
      for (const root of [proxy.url, world.service.url])
        for (const guise of guises)
          for (const [path, body] of attacks) {
            const answer = await fetch(`${root}/api/${path}`, {
              method: 'POST',
              headers: { 'content-type': 'application/json', ...guise },
              body: JSON.stringify(body),
            });
            await answer.text();
            expect([root, path, answer.status]).toEqual([root, path, 401]);
          }
      // Reading goes through it as ever.
      expect((await fetch(`${proxy.url}/api/tenant/${TENANT}/status`)).status).toBe(200);
      expect((await states(world)).toSorted()).toEqual(RUNNING.toSorted());
      expect(world.item('A')).toBeDefined();

      const [executor] = (
        await world.api.get<{ executor: { gatehouse: { id: string } }[] }>('/api/components')
      ).executor;
      await runCommand(['pause', executor?.gatehouse.id ?? '', '--config', world.config]);
      await world.observer.until('the executor to pause', async () =>
        (await states(world)).includes('executor paused'),
      );
      await runCommand(['resume', executor?.gatehouse.id ?? '', '--config', world.config]);
      await runCommand(['dequeue', 'org/project', 'master/A', '-p', 'gate', '-c', world.config]);
      await world.leaves('A', 'DEQUEUED');
    },
  );
});
