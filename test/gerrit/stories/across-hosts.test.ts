/** A change of this Gerrit and a pull request of a GitHub, one of which needs the other: in one service, in both directions. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, test } from 'vitest';
import { projectStanzas } from '../../fake/code-host/stanzas.ts';
import { startFakeGithub } from '../../github/fake/fake-github.ts';
import type { Pull } from '../../github/fake/world.ts';
import { DEADLINE } from '../../scenario/observer.ts';
import { FAR, TOKEN } from '../../scenario/site.ts';
import { type GerritWorld, openGerritWorld } from './gerrit-world.ts';

const PAGE = 'acme/page';
const HUB = 'hub.example.org';

const LAYOUT = `
- pipeline:
    name: check
    manager: independent
    trigger:
      local: [{event: patchset-created}]
      far: [{event: pull_request, action: [opened, changed]}]
    success:
      local: {Verified: 1}
      far: {check: success}
- pipeline:
    name: gate
    manager: dependent
    require:
      local: {open: true, approval: [{Workflow: 1}, {Code-Review: 2}]}
      far: {open: true, review: [{type: approved, permission: write}]}
    trigger:
      local: [{event: comment-added, approval: [{Workflow: 1}]}]
      far: [{event: pull_request_review, action: submitted}]
    success:
      local: {Verified: 2, submit: true}
      far: {check: success, merge: true}
    failure:
      local: {Verified: -2}
      far: {check: failure}
- queue: {name: integrated}
- job: {name: base, parent: null, run: playbooks/job.sh}
- job: {name: unit}
${projectStanzas(['acme/app', PAGE])}`;

interface Hosts {
  readonly world: GerritWorld;
  openPull(title: string, needs?: string): Promise<Pull>;
  approvePull(pull: Pull): Promise<void>;
  pullLeaves(pull: Pull, result: string, pipeline?: string): Promise<unknown>;
  isPullLive(pull: Pull): boolean;
}

async function openHosts(stack: AsyncDisposableStack): Promise<Hosts> {
  const github = stack.use(await startFakeGithub({ webhook: { secret: TOKEN } }));
  const page = await github.repository(PAGE);
  github.setRole(page, 'bob', 'write');
  await github.install('acme');
  // No number stands for two changes in the names of jobs.
  page.nextNumber = 101;
  const folder = await mkdtemp(path.join(tmpdir(), 'gatehouse-two-hosts-'));
  stack.defer(() => rm(folder, { recursive: true, force: true }));
  const key = path.join(folder, 'github.pem');
  await writeFile(key, github.app.privateKey, { mode: 0o600 });
  const world = stack.use(
    await openGerritWorld({
      layout: LAYOUT,
      projects: ['acme/app'],
      // A review may be shown before the answer of the check run before it is.
      expectedTrouble: [/older than its event/],
      far: {
        projects: [PAGE],
        driverLines: [
          ...['driver = github', `canonical_hostname = ${HUB}`],
          ...[`app_id = ${github.app.id}`, `app_key = ${key}`],
          ...[`api_url = ${github.apiUrl}`, `clone_url = ${github.url}`],
        ],
        notify(url) {
          github.webhook.url = `${url}/api/connection/${FAR}/payload`;
        },
        settled: () => github.settled(),
      },
    }),
  );
  const named = ({ number }: Pull) => ({ number, project: PAGE });
  const isOf =
    ({ number }: Pull) =>
    (item: { readonly changes: readonly { readonly name: string }[] }) =>
      item.changes.some(({ name }) => name === String(number));
  return {
    world,
    openPull: (title, needs) =>
      github.openPull(page, {
        ...{ title, files: { [`${title}.txt`]: 'x\n' } },
        ...(needs === undefined ? {} : { body: `Depends-On: ${needs}` }),
      }),
    approvePull: async pull => void (await github.review(page, pull, 'bob', 'APPROVED')),
    pullLeaves: (pull, result, pipeline = 'gate') => world.left(named(pull), result, pipeline),
    isPullLive: pull => world.observer.items().some(isOf(pull)),
  };
}

const pullUrl = ({ number }: Pull) => `https://${HUB}/${PAGE}/pull/${number}`;

test('a change lands behind the pull request that it needs, and a pull request behind the change that it needs', {
  timeout: 8 * DEADLINE,
}, async () => {
  await using stack = new AsyncDisposableStack();
  const hosts = await openHosts(stack);
  const { world } = hosts;
  const { gerrit, stage } = world;

  const needed = await hosts.openPull('needed');
  const needy = await world.push({ message: `Use it\n\nDepends-On: ${pullUrl(needed)}` });
  await world.runs('unit: 101', 'unit: 101 1');
  world.free();
  await world.leaves(needy, 'SUCCESS', 'check');
  await hosts.pullLeaves(needed, 'SUCCESS', 'check');
  await world.approve(needy);
  await world.observer.settle();
  expect(world.item(needy)).toBeUndefined();
  await hosts.approvePull(needed);
  await hosts.pullLeaves(needed, 'SUCCESS');
  await world.leaves(needy, 'SUCCESS');
  expect([needed.now.merged, needy.now.status]).toEqual([true, 'MERGED']);

  const other = await world.push({ message: 'Needed' });
  const needyPull = await hosts.openPull('needy', `${gerrit.url}/c/acme/app/+/${other.number}`);
  await hosts.pullLeaves(needyPull, 'SUCCESS', 'check');
  await hosts.approvePull(needyPull);
  await world.observer.settle();
  expect(hosts.isPullLive(needyPull)).toBe(false);
  await world.approve(other);
  await world.leaves(other, 'SUCCESS');
  await hosts.pullLeaves(needyPull, 'SUCCESS');
  expect([other.now.status, needyPull.now.merged]).toEqual(['MERGED', true]);

  const built = (pipeline: string) =>
    stage.builds.flatMap(build => (build.pipeline === pipeline ? [build.changes] : [])).toSorted();
  expect(built('check')).toEqual(['101', '101 1', '2', '2 102']);
  expect(built('gate')).toEqual(['101', '101 1', '2', '2 102']);
  await world.end();
});
