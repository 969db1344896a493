/** Plain repositories as a code host: people push with git, the listener finds it. */
import { mkdir, mkdtemp, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gitDriver } from '../../../drivers/git/index.ts';
import type { DriverLog } from '../../../src/driver/connection.ts';
import type { NewConnectionEvent } from '../../../src/driver/intake.ts';
import { createGit, type GitOptions } from '../../../src/git/process/git.ts';
import { openRepositoryCache } from '../../../src/git/repository-cache.ts';
import { startAside } from '../../../src/git/starter/start-aside.ts';
import { systemClock } from '../../../src/lib/clock.ts';
import { optionReader } from '../../../src/lib/option-reader.ts';
import { changeKey } from '../../../src/model/change.ts';
import { type ProjectKey, projectKey } from '../../../src/model/project.ts';
import { createGitRepository, type GitRepository } from '../../fake/git-repository.ts';
import { type CodeHost, type Files, gitLanguage, type Proposed } from './code-host.ts';

export interface GitHost extends CodeHost {
  /** Directory all projects are below. */
  readonly base: string;
  repository(project: ProjectKey): GitRepository;
  readonly log: readonly string[];
}

const BRANCH = 'main';
const IDENTITY = { name: 'Gatehouse', email: 'gatehouse@example.org' };

/**
 * @param written further options of the connection; undefined: not this one.
 * @param limits of the git processes of the mirrors.
 */
export async function openGitHost(
  written: Readonly<Record<string, string | undefined>> = {},
  limits: Pick<GitOptions, 'memoryBytes'> = {},
): Promise<GitHost> {
  const folder = await mkdtemp(join(tmpdir(), 'gatehouse-driver-'));
  const base = join(folder, 'projects');
  const projects = [
    projectKey({ connection: 'local', name: 'acme/app' }),
    projectKey({ connection: 'local', name: 'acme/lib' }),
  ] as const;
  await mkdir(join(base, 'acme'), { recursive: true });
  const repositories = new Map<ProjectKey, GitRepository>();
  for (const project of projects) {
    const repository = await createGitRepository(folder);
    await symlink(repository.path, join(base, `${project.slice('local/'.length)}.git`));
    await repository.commit({
      ref: `refs/heads/${BRANCH}`,
      files: { 'README.md': 'hello\n' },
      message: 'start\n',
    });
    repositories.set(project, repository);
  }
  const cache = await openRepositoryCache({
    root: join(folder, 'cache'),
    git: createGit({ identity: IDENTITY, start: startAside, ...limits }),
    mergeTreeMode: 'unbuffered-coprocess',
  });
  const log: string[] = [];
  const connection = await connect(
    { baseurl: base, proposals: 'for/{branch}/{topic}', poll_interval: '0', ...written },
    cache,
    log,
  );
  const topics = new Map<string, ProjectKey>();

  function repository(project: ProjectKey): GitRepository {
    const found = repositories.get(project);
    if (found === undefined) throw new Error(`no project ${project}`);
    return found;
  }
  const homeOf = (topic: string) => repository(topics.get(topic) ?? projects[0]);
  const proposalRef = (topic: string) => `refs/heads/for/${BRANCH}/${topic}`;
  const approvalRef = (topic: string) => `refs/heads/gate/${BRANCH}/${topic}`;

  async function commitTo(topic: string, parent: string, files: Files, message: string): Promise<Proposed> {
    const commit = await homeOf(topic).commit({ ref: proposalRef(topic), parents: [parent], files, message });
    return { key: changeKey(topics.get(topic) ?? projects[0], `${BRANCH}/${topic}`), commit };
  }

  return {
    base,
    log,
    repository,
    connection,
    config: gitDriver.config,
    repositories: cache,
    projects,
    branch: BRANCH,
    async propose({
      topic,
      project = projects[0],
      files = { [`${Buffer.from(topic).toString('hex')}.txt`]: topic },
      message = `${topic}\n`,
      on,
    }) {
      topics.set(topic, project);
      const parent = await homeOf(topic).tip(on === undefined ? `refs/heads/${BRANCH}` : proposalRef(on));
      return commitTo(topic, parent, files, message);
    },
    async amend(topic, files) {
      const parent = await homeOf(topic).git(
        'rev-parse',
        '--verify',
        '--end-of-options',
        `${proposalRef(topic)}~1`,
      );
      return commitTo(topic, parent, files, `${topic}, again\n`);
    },
    approve: async topic =>
      void (await homeOf(topic).git(
        'update-ref',
        approvalRef(topic),
        await homeOf(topic).tip(proposalRef(topic)),
      )),
    withdrawApproval: async topic => void (await homeOf(topic).git('update-ref', '-d', approvalRef(topic))),
    abandon: async topic => void (await homeOf(topic).git('update-ref', '-d', proposalRef(topic))),
    push: files => repository(projects[0]).commit({ ref: `refs/heads/${BRANCH}`, files }),
    lands: 'push',
    stacks: true,
    tip: project => repository(project).tip(`refs/heads/${BRANCH}`),
    tree: commit => repository(projects[0]).git('rev-parse', '--verify', `${commit}^{tree}`),
    isOpen: async topic =>
      (await homeOf(topic).git('for-each-ref', '--format=%(refname)'))
        .split('\n')
        .includes(proposalRef(topic)),
    async refuseMerges(text) {
      const hooks = join(repository(projects[0]).path, 'hooks');
      await mkdir(hooks, { recursive: true });
      await writeFile(join(hooks, 'update'), `#!/bin/sh\necho '${text}' >&2\nexit 1\n`, { mode: 0o755 });
    },
    ail: () => rename(repository(projects[0]).path, `${repository(projects[0]).path}.away`),
    heal: () => rename(`${repository(projects[0]).path}.away`, repository(projects[0]).path),
    remarks: ({ commit }) =>
      repository(projects[0]).git('notes', '--ref=refs/notes/gatehouse', 'show', commit),
    dependsOn: (topic, project) => `Depends-On: ${project.slice('local/'.length)}@${BRANCH}/${topic}`,
    deliveries: () => listenOnce(connection, projects),
    language: gitLanguage(true),
    async [Symbol.asyncDispose]() {
      await cache.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

export async function connect(
  written: Readonly<Record<string, string | undefined>>,
  repositories: CodeHost['repositories'],
  log: string[],
) {
  const at = { file: 'gatehouse.conf', line: 1 };
  const options = new Map(
    Object.entries(written).flatMap(([option, value]) =>
      value === undefined ? [] : [[option, { value, at }] as const],
    ),
  );
  const reader = optionReader({ name: 'connection local', at, options });
  const note = (facts: object, text: string) => void log.push(`${text} ${JSON.stringify(facts)}`);
  const driverLog: DriverLog = { debug: note, info: note, warn: note };
  const connection = await gitDriver.connect('local', reader, {
    clock: systemClock(),
    log: driverLog,
    repositories,
  });
  const problems = reader.finish();
  if (connection === undefined || problems.length > 0) throw new Error(JSON.stringify(problems));
  return connection;
}

/** One round of the listener over all projects; it looks at each at its start. */
async function listenOnce(
  connection: CodeHost['connection'],
  projects: readonly ProjectKey[],
): Promise<readonly NewConnectionEvent[]> {
  const abort = new AbortController();
  const found = new Map<ProjectKey, NewConnectionEvent>();
  await connection.listener?.listen({
    signal: abort.signal,
    projects: () => new Set(projects),
    memory: { get: async () => undefined },
    isLive: async () => false,
    passed: async () => undefined,
    emit: async event => {
      const name = JSON.parse(JSON.stringify(event.payload)).project;
      found.set(projectKey({ connection: connection.name, name }), {
        ...event,
        deliveryId: crypto.randomUUID(),
      });
      if (found.size === projects.length) abort.abort();
    },
  });
  return projects.flatMap(project => found.get(project) ?? []);
}
