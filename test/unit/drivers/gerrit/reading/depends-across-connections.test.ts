/** Changes of a Gerrit and of another host that need each other's, over the resolver that asks all connections. */
import { expect, test } from 'vitest';
import { changeKey } from '../../../../../src/model/change.ts';
import { projectKey } from '../../../../../src/model/project.ts';
import { createDependencyResolver } from '../../../../../src/scheduler/changes/resolve-dependencies.ts';
import { alice, changeHistory } from './change-history.ts';
import { APP, aboutChange, scriptedGerrit } from './scripted-gerrit.ts';

const { signal } = new AbortController();
const PULL = 'https://hub.example.org/acme/site/pull/3';
const SITE = projectKey({ connection: 'hub', name: 'acme/site' });
const PULL_KEY = changeKey(SITE, '3');
const GERRIT_KEY = changeKey(APP, '12');

function bothHosts() {
  const gerrit = scriptedGerrit();
  const hub = { changeOfUrl: async (value: string) => (value === PULL ? PULL_KEY : undefined) };
  const resolver = createDependencyResolver({
    connections: new Map([
      ['gerrit', { source: gerrit.source }],
      ['hub', { source: hub }],
    ]),
    projects: name => new Set(name === 'gerrit' ? [APP] : [SITE]),
  });
  return { gerrit, resolver };
}

test('a change of Gerrit needs what its footer names at another host', async () => {
  const { gerrit, resolver } = bothHosts();
  const change = changeHistory();
  change.push(alice, `Use it\n\nDepends-On: ${PULL}\n`);
  gerrit.world.changes.set(12, change);
  await gerrit.receive(aboutChange(12), 'patchset-created');
  const record = gerrit.records.get(GERRIT_KEY) ?? expect.unreachable('no record');
  expect(record.unresolvedDependencies).toEqual([PULL]);
  expect((await resolver.resolve(record, signal)).dependsOn).toEqual([PULL_KEY]);
});

test.each([
  'https://review.example.org/c/acme/app/+/12',
  'https://review.example.org/#/c/12/',
  'https://review.example.org/12',
])('a change of another host needs the change of Gerrit that %s names', async line => {
  const { gerrit, resolver } = bothHosts();
  gerrit.world.changes.set(12, changeHistory());
  await gerrit.receive(aboutChange(12), 'patchset-created');
  const known = gerrit.records.get(GERRIT_KEY) ?? expect.unreachable('no record');
  const change = { ...known.change, key: PULL_KEY, project: SITE };
  const record = { ...known, change, dependsOn: [], unresolvedDependencies: [line] };
  const resolved = await resolver.resolve(record, signal);
  expect([resolved.dependsOn, resolved.unresolvedDependencies]).toEqual([[GERRIT_KEY], []]);
});
