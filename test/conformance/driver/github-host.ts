/** GitHub on its fake: people act at the host, its webhooks come over HTTP, and the driver is connected as the service does it. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { githubDriver } from '../../../drivers/github/index.ts';
import type { Connection } from '../../../src/driver/connection.ts';
import type { NewConnectionEvent } from '../../../src/driver/intake.ts';
import { languageOf } from '../../../src/driver/language-of.ts';
import { createGit } from '../../../src/git/process/git.ts';
import { openRepositoryCache, type RepositoryCache } from '../../../src/git/repository-cache.ts';
import { startAside } from '../../../src/git/starter/start-aside.ts';
import { systemClock } from '../../../src/lib/clock.ts';
import { optionReader } from '../../../src/lib/option-reader.ts';
import { changeKey } from '../../../src/model/change.ts';
import { type ProjectKey, projectIdOf, projectKey } from '../../../src/model/project.ts';
import { git } from '../../github/fake/bare-git.ts';
import { type FakeGithub, startFakeGithub } from '../../github/fake/fake-github.ts';
import type { Pull, Repository, Review } from '../../github/fake/world.ts';
import type { CodeHost } from './code-host.ts';

const BRANCH = 'main';
const SECRET = 'webhook-secret';

export interface GithubHost extends CodeHost {
  readonly github: FakeGithub;
}

/** A pull request, where it is, and its newest approval. */
interface Topic {
  readonly repository: Repository;
  readonly project: ProjectKey;
  readonly pull: Pull;
  approval?: Review;
}

/** @param lands the connection's `landing`. */
export async function openGithubHost(lands: 'push' | 'api'): Promise<GithubHost> {
  const stack = new AsyncDisposableStack();
  const github = stack.use(await startFakeGithub({ webhook: { secret: SECRET } }));
  const projects = [
    projectKey({ connection: 'local', name: 'acme/app' }),
    projectKey({ connection: 'local', name: 'acme/lib' }),
  ] as const;
  const repositories = new Map<ProjectKey, Repository>();
  for (const project of projects) {
    const repository = await github.repository(projectIdOf(project).name);
    github.setRole(repository, 'bob', 'write');
    repositories.set(project, repository);
  }
  await github.install('acme');
  const repositoryOf = (project: ProjectKey): Repository => {
    const found = repositories.get(project);
    if (found === undefined) throw new Error(`no project ${project}`);
    return found;
  };
  const first = repositoryOf(projects[0]);
  const { connection, cache } = await connectGithub(github, lands, stack);
  const delivered: NewConnectionEvent[] = [];
  github.webhook.url = await receiveWebhooks(connection, delivered, stack);
  // The connection has seen each project once, as its first sweep brings about.
  for (const repository of repositories.values())
    await github.push(repository, BRANCH, { files: { 'README.md': 'hello\n' } });
  const topics = new Map<string, Topic>();
  const topicOf = (name: string): Topic => {
    const found = topics.get(name);
    if (found === undefined) throw new Error(`no proposal ${name}`);
    return found;
  };

  return {
    github,
    connection,
    lands,
    projects,
    branch: BRANCH,
    config: languageOf(githubDriver, connection),
    repositories: cache,
    language: GITHUB_LANGUAGE,
    stacks: false,
    async propose({
      topic,
      project = projects[0],
      files = { [`${Buffer.from(topic).toString('hex')}.txt`]: topic },
      message = `${topic}\n`,
      on,
    }) {
      const repository = repositoryOf(project);
      if (on !== undefined) await github.setRef(repository, `refs/heads/${topic}`, topicOf(on).pull.now.head);
      const [title = '', ...body] = message.split('\n');
      const pull = await github.openPull(repository, { head: topic, files, title, body: body.join('\n') });
      topics.set(topic, { repository, project, pull });
      return { key: changeKey(project, String(pull.number)), commit: pull.now.head };
    },
    async amend(topic, files) {
      const { repository, project, pull } = topicOf(topic);
      const commit = await github.push(repository, topic, { files, from: BRANCH, force: true });
      return { key: changeKey(project, String(pull.number)), commit };
    },
    async approve(name) {
      const topic = topicOf(name);
      topic.approval = await github.review(topic.repository, topic.pull, 'bob', 'APPROVED');
    },
    async withdrawApproval(name) {
      const { repository, pull, approval } = topicOf(name);
      if (approval !== undefined) await github.dismiss(repository, pull, approval);
    },
    abandon: name => github.close(topicOf(name).repository, topicOf(name).pull),
    push: files => github.push(first, BRANCH, { files }),
    tip: project => github.tip(repositoryOf(project), BRANCH),
    tree: commit => git(first.dir, 'rev-parse', '--verify', `${commit}^{tree}`),
    isOpen: async name => topicOf(name).pull.now.state === 'open',
    async refuseMerges(text) {
      const hook = `#!/bin/sh\necho 'error: ${text}' >&2\nexit 1\n`;
      await writeFile(path.join(first.dir, 'hooks', 'update'), hook, { mode: 0o755 });
      const does = { kind: 'status', status: 405, message: text } as const;
      github.faults.add({ operation: 'pulls/merge', times: 100, does });
    },
    async ail() {
      github.faults.add({ times: 1_000, does: { kind: 'status', status: 503, message: 'unicorn' } });
    },
    heal: async () => github.faults.heal(),
    remarks: async ({ key }) =>
      [...first.pulls.values()]
        .filter(({ number }) => key.endsWith(`#${number}`))
        .flatMap(({ comments }) => comments.map(({ body }) => body))
        .join('\n'),
    dependsOn: (topic, project) =>
      `Depends-On: https://github.com/${projectIdOf(project).name}/pull/${topicOf(topic).pull.number}`,
    async deliveries() {
      await github.settled();
      return delivered.splice(0);
    },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

const GITHUB_LANGUAGE: CodeHost['language'] = {
  triggers: {
    proposed: { event: 'pull_request', action: ['opened', 'changed'] },
    approved: { event: 'pull_request_review', action: 'submitted', state: 'approved', branch: '^main$' },
    abandoned: { event: 'pull_request', action: 'closed', require: { merged: false } },
    branchMoved: { event: 'push', ref: '^refs/heads/main$' },
  },
  requirements: {
    approved: { review: { type: 'approved', permission: 'write' } },
    open: { open: true },
  },
  reporters: { merge: { merge: true, comment: false }, remark: { comment: true } },
  mistakes: {
    trigger: [{ event: 'pull_request', action: 'opend' }, ['action']],
    requirement: [{ opne: true }, ['opne']],
    reporter: [{ merge: 'yes' }, ['merge']],
  },
};

/** The driver connected to the App, as the service does it. */
export async function connectGithub(
  github: FakeGithub,
  landing: 'push' | 'api',
  stack: AsyncDisposableStack,
): Promise<{ readonly connection: Connection; readonly cache: RepositoryCache }> {
  const folder = await mkdtemp(path.join(tmpdir(), 'gatehouse-github-host-'));
  stack.defer(() => rm(folder, { recursive: true, force: true }));
  const identity = { name: 'Gatehouse', email: 'gatehouse@example.org' };
  const cache = stack.use(
    await openRepositoryCache({
      root: path.join(folder, 'cache'),
      git: createGit({ identity, start: startAside }),
      mergeTreeMode: 'unbuffered-coprocess',
    }),
  );
  await writeFile(path.join(folder, 'app.pem'), github.app.privateKey);
  const written = {
    app_id: String(github.app.id),
    app_key: 'app.pem',
    webhook_token: SECRET,
    api_url: github.apiUrl,
    clone_url: github.url,
    landing,
  };
  const at = { file: 'gatehouse.conf', line: 1 };
  const options = new Map(Object.entries(written).map(([name, value]) => [name, { value, at }]));
  const reader = optionReader({ name: 'connection local', at, options, directory: folder });
  const log = { debug() {}, info() {}, warn() {} };
  const deps = { clock: systemClock(), log, repositories: cache };
  const connection = await githubDriver.connect('local', reader, deps);
  const problems = reader.finish();
  if (connection === undefined || problems.length > 0) throw new Error(JSON.stringify(problems));
  return { connection, cache };
}

/** Verifies webhooks and keeps what the connection accepts. @returns where to send them */
export async function receiveWebhooks(
  { webhook }: Connection,
  delivered: NewConnectionEvent[],
  stack: AsyncDisposableStack,
): Promise<string> {
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const verdict = await webhook?.verify(request.headers, Buffer.concat(chunks));
    if (verdict?.kind === 'accepted') delivered.push(verdict.event);
    response.writeHead(verdict?.kind === 'accepted' ? 200 : 202).end();
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  stack.defer(async () => {
    server.closeAllConnections();
    await new Promise(resolve => server.close(resolve));
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}
