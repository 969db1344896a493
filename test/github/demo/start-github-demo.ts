/**
 * `npm run quickstart -- --github`: six pull requests through the gate, at a GitHub for tests that runs in this process. Its HTTP and
 * git are real; every request and answer is judged by GitHub's own descriptions.
 */
import { mkdir, rm, writeFile } from 'node:fs/promises';
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
import { toWidth } from '../../../src/lib/text-width.ts';
import { type FakeGithub, startFakeGithub } from '../fake/fake-github.ts';
import type { CheckRun, Pull, Repository } from '../fake/world.ts';
import { GITHUB_PIPELINES } from './github-pipelines.ts';

const CONNECTION = 'github';
const FILES = [
  [CONFIG_PROJECT, configFiles(GITHUB_PIPELINES)],
  [APP, APP_FILES],
  [API, API_FILES],
] as const;

/** Empties the directory first. Disposing ends the host. @throws when the host broke GitHub's rules. */
export async function startGithubDemo(options: SiteOptions): Promise<LocalDemo> {
  const { directory, port, token } = options;
  await rm(directory, { recursive: true, force: true });
  const github = await startFakeGithub({ webhook: { secret: token } });
  const repositories = new Map<string, Repository>();
  const clone = (project: string) => path.join(directory, 'developer', project);
  for (const [project, files] of FILES) {
    const repository = await github.repository(project, {
      defaultBranch: 'master',
      files: Object.fromEntries(files.map(({ path: name, text }) => [name, text])),
    });
    await mkdir(path.dirname(clone(project)), { recursive: true });
    await git(path.dirname(clone(project)), 'clone', '--quiet', repository.dir, clone(project));
    github.setRole(repository, 'bob', 'write');
    repositories.set(project, repository);
  }
  await github.install('acme');
  const url = `http://127.0.0.1:${port}`;
  github.webhook.url = `${url}/api/connection/${CONNECTION}/payload`;
  const key = path.join(directory, 'etc', 'github.pem');
  await mkdir(path.dirname(key), { recursive: true });
  await writeFile(key, github.app.privateKey, { mode: 0o600 });
  const installed = await writeDemoSettings(options, CONNECTION, [
    'driver = github',
    `app_id = ${github.app.id}`,
    'app_key = github.pem',
    `webhook_token = ${token}`,
    `api_url = ${github.apiUrl}`,
    `clone_url = ${github.url}`,
  ]);
  const pulls = new Map<string, Pull>();
  return {
    site: { ...installed, url, host: githubHost(github, repositories, clone, pulls) },
    places: [
      `GitHub         ${github.url}   (for tests; ${repositories.size} repositories of acme, App ${github.app.slug})`,
    ],
    invitation: [`The developer's clones are in ${path.join(directory, 'developer')}.`],
    shown: async () => ['', 'check runs at GitHub:', ...checkRuns(repositories, pulls)],
    [Symbol.asyncDispose]: () => github[Symbol.asyncDispose](),
  };
}

function githubHost(
  github: FakeGithub,
  repositories: ReadonlyMap<string, Repository>,
  clone: (project: string) => string,
  pulls: Map<string, Pull>,
): DemoHost {
  const repositoryOf = (project: string): Repository => {
    const found = repositories.get(project);
    if (found === undefined) throw new Error(`GitHub has no repository ${project}`);
    return found;
  };
  return {
    repositories: new Map([...repositories].map(([project, { dir }]) => [project, dir])),
    words: { proposed: 'as pull requests', approved: 'with reviews' },
    async propose({ project, topic, subject, files }) {
      const commit = await commitTopic(clone(project), topic, subject, files);
      await git(clone(project), 'push', '--quiet', 'origin', `${topic}:refs/heads/${topic}`);
      const pull = await github.openPull(repositoryOf(project), { head: topic, title: subject });
      pulls.set(topic, pull);
      return { change: String(pull.number), commit };
    },
    async approve({ project, topic }) {
      const pull = pulls.get(topic);
      if (pull !== undefined) await github.review(repositoryOf(project), pull, 'bob', 'APPROVED');
    },
  };
}

const MARKS: { readonly [conclusion: string]: string } = { success: '✓', failure: '✗', cancelled: '–' };

/** One line for each check run, by pull request. */
function checkRuns(
  repositories: ReadonlyMap<string, Repository>,
  pulls: ReadonlyMap<string, Pull>,
): readonly string[] {
  const open = [...repositories].flatMap(([project, repository]) =>
    [...pulls.values()]
      .filter(pull => repository.pulls.get(pull.number) === pull)
      .map(pull => ({
        project,
        pull,
        checks: repository.checks.filter(each => each.headSha === pull.now.head),
      })),
  );
  return open.flatMap(({ project, pull, checks }) =>
    checks.map(check => runLine(`${project}#${pull.number}`, check)),
  );
}

function runLine(pull: string, { name, status, conclusion, output }: CheckRun): string {
  const mark = MARKS[conclusion ?? ''] ?? '●';
  return `  ${toWidth(pull, 12)} ${mark} ${toWidth(name, 12)} ${toWidth(conclusion ?? status, 10)} ${output.title ?? ''}`;
}
