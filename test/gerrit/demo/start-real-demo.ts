/**
 * `GERRIT_WAR=… npm run quickstart -- --gerrit`: the demo at a real Gerrit, which is started for it, or which GERRIT_URL names and is there
 * for tests (`find-gerrit.ts`). alice pushes, bob votes; one that runs on keeps projects and changes, and a second demo begins with
 * the files anew.
 */
import { mkdir, rm } from 'node:fs/promises';
import path from 'node:path';
import {
  API,
  API_FILES,
  APP,
  APP_FILES,
  CONFIG_PROJECT,
  configFiles,
  type DemoFile,
} from '../../../src/cmd/quickstart/demo-files.ts';
import type { DemoHost, LocalDemo } from '../../../src/cmd/quickstart/demo-host.ts';
import { commitTopic, git, replaceFiles } from '../../../src/cmd/quickstart/developer.ts';
import { type SiteOptions, writeDemoSettings } from '../../../src/cmd/quickstart/prepare-site.ts';
import type { Json } from '../../../src/model/job.ts';
import { type Account, askWell, basicAuthorization } from '../real/account.ts';
import { connectionLines } from '../real/connection-lines.ts';
import type { PushedChange } from '../real/deeds.ts';
import { type GerritOfTests, startGerrit } from '../real/start-gerrit.ts';
import { cloneForDeveloper } from './developer-clone.ts';
import { GERRIT_PIPELINES } from './gerrit-pipelines.ts';
import { shownChange } from './shown-change.ts';

const FILES = [
  [CONFIG_PROJECT, configFiles(GERRIT_PIPELINES)],
  [APP, APP_FILES],
  [API, API_FILES],
] as const;
/** Changes too: the demo asks which of their commits have landed. */
const MIRRORED = ['master:master', '+refs/changes/*:refs/changes/*'];
/** By it a demo knows the projects of an earlier one. */
const DESCRIPTION = 'Made by the quickstart of Gatehouse, which overwrites it.';

/** Empties the directory first. Disposing ends a Gerrit that was started. @throws Error that says what to give, or what is in the way. */
export async function startRealDemo(options: SiteOptions): Promise<LocalDemo> {
  const { directory, port } = options;
  await rm(directory, { recursive: true, force: true });
  await mkdir(directory, { recursive: true });
  await using stack = new AsyncDisposableStack();
  const gerrit = stack.use(await startGerrit({ projects: [], pages: true }));
  const clone = (project: string) => path.join(directory, 'developer', project);
  const mirror = (project: string) => path.join(directory, 'mirrors', `${project}.git`);
  for (const [project, files] of FILES) {
    await createDemoProject(gerrit, project);
    await beginAnew(gerrit, project, files, path.join(directory, 'setup', project));
    const remote = `${gerrit.url}/a/${project}`;
    await cloneForDeveloper({
      remote,
      authorization: basicAuthorization(gerrit.alice),
      clone: clone(project),
    });
    await createMirror(remote, gerrit.alice, mirror(project));
  }
  const installed = await writeDemoSettings(options, 'gerrit', await connectionLines(gerrit, directory));
  const changes = new Map<string, PushedChange>();
  const kept = stack.move();
  return {
    site: {
      ...installed,
      url: `http://127.0.0.1:${port}`,
      host: realHost(gerrit, { clone, mirror, changes }),
    },
    places: [
      `Gerrit         ${gerrit.url}   (version ${gerrit.version}; sign in as ${gerrit.alice.username} or ${gerrit.bob.username})`,
    ],
    invitation: [
      `The developer's clones are in ${path.join(directory, 'developer')}: commit, and git push origin HEAD:refs/for/master.`,
    ],
    async shown() {
      const lines = await Promise.all([...changes.values()].map(change => changeLine(gerrit, change)));
      return ['', 'changes at Gerrit:', ...lines];
    },
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}

async function createDemoProject({ ask, admin }: GerritOfTests, project: string): Promise<void> {
  const place = `projects/${encodeURIComponent(project)}`;
  const found = await ask(admin, 'GET', `${place}/description`);
  if (found.status === 404) {
    const wanted = { create_empty_commit: true, branches: ['master'], description: DESCRIPTION };
    await askWell(ask, admin, 'PUT', place, { ...wanted, submit_type: 'MERGE_IF_NECESSARY' });
  } else if (found.json !== DESCRIPTION) {
    throw new Error(
      `this Gerrit has a project ${project} that the quickstart did not make (it answered ${found.status}); give one that is there for tests`,
    );
  }
}

/** A commit past review that leaves these files and no others. */
async function beginAnew(
  { url, admin }: GerritOfTests,
  project: string,
  files: readonly DemoFile[],
  clone: string,
): Promise<void> {
  await cloneForDeveloper({ remote: `${url}/a/${project}`, authorization: basicAuthorization(admin), clone });
  await replaceFiles(clone, 'Begin', files);
  await git(clone, 'push', '--quiet', 'origin', 'HEAD:refs/heads/master');
}

async function createMirror(remote: string, reader: Account, bare: string): Promise<void> {
  await mkdir(path.dirname(bare), { recursive: true });
  const credentials = `http.extraHeader=Authorization: ${basicAuthorization(reader)}`;
  await git(path.dirname(bare), 'clone', '--quiet', '--bare', '--config', credentials, remote, bare);
}

function realHost(
  gerrit: GerritOfTests,
  places: {
    readonly clone: (project: string) => string;
    readonly mirror: (project: string) => string;
    readonly changes: Map<string, PushedChange>;
  },
): DemoHost {
  const { clone, mirror, changes } = places;
  const repositories = new Map(FILES.map(([project]) => [project, mirror(project)]));
  return {
    repositories,
    async update() {
      for (const bare of repositories.values()) await git(bare, 'fetch', '--quiet', 'origin', ...MIRRORED);
    },
    words: { proposed: 'as changes', approved: 'with votes' },
    async propose({ project, topic, subject, files }) {
      const commit = await commitTopic(clone(project), topic, subject, files);
      await git(clone(project), 'push', '--quiet', 'origin', 'HEAD:refs/for/master');
      const found = await askWell(gerrit.ask, gerrit.alice, 'GET', `changes/?q=commit:${commit}`);
      const { _number: number, change_id: changeId } = record(Array.isArray(found) ? found[0] : undefined);
      if (typeof number !== 'number') throw new Error(`Gerrit has no change of ${commit}`);
      changes.set(topic, { number, changeId: String(changeId), project, commit });
      return { change: String(number), commit };
    },
    async approve({ topic }) {
      const change = changes.get(topic);
      if (change !== undefined) await gerrit.vote(change, gerrit.bob, { 'Code-Review': 2, Workflow: 1 });
    },
  };
}

async function changeLine({ ask, alice }: GerritOfTests, { number, project }: PushedChange): Promise<string> {
  const { status, labels } = record(await askWell(ask, alice, 'GET', `changes/${number}/detail`));
  const votes = Object.entries(record(labels)).flatMap(([label, info]) => {
    const { all } = record(info);
    return (Array.isArray(all) ? all : []).map(record).flatMap(({ value, username }) => {
      const given = Number(value ?? 0);
      return given === 0 ? [] : [{ label, value: given, by: String(username) }];
    });
  });
  return shownChange({ project, number, status: String(status), votes });
}

function record(value: Json | undefined): { readonly [name: string]: Json } {
  return isRecord(value) ? value : {};
}

function isRecord(value: Json | undefined): value is { readonly [name: string]: Json } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
