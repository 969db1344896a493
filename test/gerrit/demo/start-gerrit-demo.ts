/**
 * `npm run quickstart -- --gerrit`: six changes through the gate, at a Gerrit for tests that runs in this process. Its event stream
 * over SSH, its HTTP and its git are real: Ada pushes to `refs/for/master` with a commit-msg hook, bob votes. `start-real-demo.ts`: the
 * same at a real Gerrit.
 */
import { rm } from 'node:fs/promises';
import path from 'node:path';
import {
  API,
  API_FILES,
  APP,
  APP_FILES,
  CONFIG_PROJECT,
  configFiles,
} from '../../../src/cmd/quickstart/demo-files.ts';
import type { DemoHost, LocalDemo } from '../../../src/cmd/quickstart/demo-host.ts';
import { commitTopic, git } from '../../../src/cmd/quickstart/developer.ts';
import { type SiteOptions, writeDemoSettings } from '../../../src/cmd/quickstart/prepare-site.ts';
import { type FakeGerrit, startFakeGerrit } from '../fake/fake-gerrit.ts';
import { type FakeChange, type FakeProject, votesOn } from '../fake/world.ts';
import { cloneForDeveloper } from './developer-clone.ts';
import { GERRIT_PIPELINES } from './gerrit-pipelines.ts';
import { shownChange } from './shown-change.ts';

const CONNECTION = 'gerrit';
const DEVELOPER = 'ada';
const FILES = [
  [CONFIG_PROJECT, configFiles(GERRIT_PIPELINES)],
  [APP, APP_FILES],
  [API, API_FILES],
] as const;

/** Empties the directory first. Disposing ends the host. @throws when something went wrong in the host itself. */
export async function startGerritDemo(options: SiteOptions): Promise<LocalDemo> {
  const { directory, port } = options;
  await rm(directory, { recursive: true, force: true });
  const gerrit = await startFakeGerrit();
  gerrit.account(DEVELOPER, { name: 'Ada Example' });
  const clone = (project: string) => path.join(directory, 'developer', project);
  const projects = new Map<string, FakeProject>();
  for (const [project, files] of FILES) {
    const content = Object.fromEntries(files.map(({ path: name, text }) => [name, text]));
    projects.set(project, await gerrit.project(project, { files: content }));
    const authorization = gerrit.basic(DEVELOPER);
    await cloneForDeveloper({ remote: `${gerrit.url}/a/${project}`, authorization, clone: clone(project) });
  }
  const door = await gerrit.openSsh();
  const installed = await writeDemoSettings(options, CONNECTION, [
    'driver = gerrit',
    'server = 127.0.0.1',
    `baseurl = ${gerrit.url}`,
    'user = gatehouse',
    'password = gatehouse-password',
    `port = ${door.port}`,
    `sshkey = ${door.keyFile}`,
    `ssh_known_hosts = ${door.knownHostsFile}`,
  ]);
  const changes = new Map<string, FakeChange>();
  const url = `http://127.0.0.1:${port}`;
  return {
    site: { ...installed, url, host: gerritHost(gerrit, projects, clone, changes) },
    places: [
      `Gerrit         ${gerrit.url}   (for tests; ${projects.size} projects of acme, event stream on port ${door.port})`,
    ],
    invitation: [
      `The developer's clones are in ${path.join(directory, 'developer')}: commit, and git push origin HEAD:refs/for/master.`,
    ],
    shown: async () => ['', 'changes at Gerrit:', ...[...changes.values()].map(changeLine)],
    [Symbol.asyncDispose]: () => gerrit[Symbol.asyncDispose](),
  };
}

function gerritHost(
  gerrit: FakeGerrit,
  projects: ReadonlyMap<string, FakeProject>,
  clone: (project: string) => string,
  changes: Map<string, FakeChange>,
): DemoHost {
  return {
    repositories: new Map([...projects].map(([project, { dir }]) => [project, dir])),
    words: { proposed: 'as changes', approved: 'with votes' },
    async propose({ project, topic, subject, files }) {
      const commit = await commitTopic(clone(project), topic, subject, files);
      await git(clone(project), 'push', '--quiet', 'origin', 'HEAD:refs/for/master');
      const change = [...gerrit.world.changes.values()].find(({ now }) =>
        now.patchSets.some(each => each.commit === commit),
      );
      if (change === undefined) throw new Error(`Gerrit has no change of ${commit}`);
      changes.set(topic, change);
      return { change: String(change.number), commit };
    },
    async approve({ topic }) {
      const change = changes.get(topic);
      if (change !== undefined) await gerrit.vote(change, 'bob', { 'Code-Review': 2, Workflow: 1 });
    },
  };
}

/** Status and votes of a change. */
function changeLine({ number, project, now }: FakeChange): string {
  const votes = votesOn(now).map(({ label, value, by }) => ({ label, value, by: by.username }));
  return shownChange({ project: project.name, number, status: now.status, votes });
}
