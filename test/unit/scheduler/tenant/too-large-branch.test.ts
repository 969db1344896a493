/** A project whose branch is too large to read from the beginning: there is no configuration of it that could stay in force. */
import { expect, test } from 'vitest';
import type { MergerRequest } from '../../../../src/model/merge.ts';
import type { ProjectKey } from '../../../../src/model/project.ts';
import { APP, CONFIG, commit } from '../fake-host.ts';
import { openSchedulers, type Schedulers } from '../schedulers.ts';
import { eventually } from '../stand.ts';

/** Until it is called, mergers find the only branch of the project too large. @returns how often they were asked. */
function tooLarge(site: Schedulers, project: ProjectKey) {
  const answer = site.host.answer.bind(site.host);
  const state = { isTooLarge: true, asked: 0 };
  site.host.answer = (request: MergerRequest) => {
    if (request.kind !== 'config-files' || request.project !== project) return answer(request);
    state.asked += 1;
    if (!state.isTooLarge) return answer(request);
    const branch = { branch: 'master', commit: commit('huge'), text: 'too large to read' };
    return { kind: 'config-files', branches: [], tooLarge: [branch], steps: [], worker: 'merger' };
  };
  return state;
}

test('a config-project that is too large keeps its tenant from starting without pipelines, and is asked for again', async () => {
  await using site = await openSchedulers();
  const config = tooLarge(site, CONFIG);
  const { scheduler, lines } = await site.start('one');
  await eventually(async () => config.asked > 1, 'it is asked for again');
  expect((await site.store.get(site.paths.tenant('acme').layout))?.data).toHaveLength(0);
  expect(lines.join('\n')).toContain('branch master of local/acme/config is too large to read');
  config.isTooLarge = false;
  await scheduler.ready;
  await site.approve('login');
  await site.quiet();
  expect(site.host.effects.map(({ kind }) => kind)).toContain('land');
});

test('another project that is too large counts as unread: its tenant runs, and its next event reads it again', async () => {
  await using site = await openSchedulers();
  const app = tooLarge(site, APP);
  const { scheduler } = await site.start('one');
  await scheduler.ready;
  expect(app.asked).toBe(1);
  app.isTooLarge = false;
  await site.approve('login');
  await site.quiet();
  expect(app.asked).toBe(2);
  expect(site.host.effects.map(({ kind }) => kind)).toContain('land');
});
