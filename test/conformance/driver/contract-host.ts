/** The fake host of the contract for the conformance suite. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createGit } from '../../../src/git/process/git.ts';
import { openRepositoryCache } from '../../../src/git/repository-cache.ts';
import { startAside } from '../../../src/git/starter/start-aside.ts';
import { systemClock } from '../../../src/lib/clock.ts';
import { optionReader } from '../../../src/lib/option-reader.ts';
import { changeKey } from '../../../src/model/change.ts';
import { type ProjectKey, projectIdOf, projectKey } from '../../../src/model/project.ts';
import { contractDriver, registerHost } from '../../fake/contract-host/driver.ts';
import { type Delivery, HostError } from '../../fake/contract-host/faults.ts';
import { ContractHost } from '../../fake/contract-host/host.ts';
import { urlOf } from '../../fake/contract-host/records.ts';
import { projectChanged } from '../../fake/contract-host/source.ts';
import { createGitRepository, type GitRepository } from '../../fake/git-repository.ts';
import { type CodeHost, type Files, gitLanguage, type Proposed } from './code-host.ts';

const BRANCH = 'main';
let opened = 0;

export interface ContractCodeHost extends CodeHost {
  readonly host: ContractHost;
}

export async function openContractHost(strategy: 'merge' | 'squash'): Promise<ContractCodeHost> {
  const folder = await mkdtemp(join(tmpdir(), 'gatehouse-contract-'));
  const projects = [
    projectKey({ connection: 'local', name: 'acme/app' }),
    projectKey({ connection: 'local', name: 'acme/lib' }),
  ] as const;
  const repositories = new Map<string, GitRepository>();
  for (const project of projects) {
    const repository = await createGitRepository(folder);
    await repository.commit({ files: { 'README.md': 'hello\n' }, message: 'start\n' });
    repositories.set(projectIdOf(project).name, repository);
  }
  const repositoryOf = (name: string) => {
    const found = repositories.get(name);
    if (found === undefined) throw new Error(`no project ${name}`);
    return found;
  };
  const host = new ContractHost(name => repositoryOf(name).path, systemClock());
  const name = `conformance-${++opened}`;
  const registration = registerHost(name, host);
  const cache = await openRepositoryCache({
    root: join(folder, 'cache'),
    git: createGit({ identity: { name: 'Gatehouse', email: 'gatehouse@example.org' }, start: startAside }),
    mergeTreeMode: 'unbuffered-coprocess',
  });
  const at = { file: 'gatehouse.conf', line: 1 };
  const options = optionReader({
    name: 'connection local',
    at,
    options: new Map([['host', { value: name, at }]]),
  });
  const log = { debug: () => {}, info: () => {}, warn: () => {} };
  const connection = await contractDriver.connect('local', options, {
    clock: systemClock(),
    log,
    repositories: cache,
  });
  if (connection === undefined) throw new Error(JSON.stringify(options.finish()));
  const deliveries: Delivery[] = projects.map((project, index) => ({
    id: `first-${index}`,
    project: projectIdOf(project).name,
    sequence: 0,
  }));
  host.onDelivery = delivery => void deliveries.push(delivery);
  const topics = new Map<string, ProjectKey>();
  const homeOf = (topic: string) => projectIdOf(topics.get(topic) ?? projects[0]).name;
  const idOf = (topic: string) => `${BRANCH}/${topic}`;

  async function commitTo(topic: string, parent: string, files: Files, message: string): Promise<Proposed> {
    const project = homeOf(topic);
    const ref = 'refs/work';
    const head = await repositoryOf(project).commit({ ref, parents: [parent], files, message });
    await host.propose(project, { id: idOf(topic), branch: BRANCH, head });
    return { key: changeKey(topics.get(topic) ?? projects[0], idOf(topic)), commit: head };
  }

  return {
    host,
    lands: 'api',
    stacks: true,
    connection,
    config: contractDriver.config,
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
      const { name: home } = projectIdOf(project);
      const parent =
        on === undefined
          ? await repositoryOf(home).tip(`refs/heads/${BRANCH}`)
          : (await host.proposal(home, idOf(on))).head;
      return commitTo(topic, parent, files, message);
    },
    async amend(topic, files) {
      const { head } = await host.proposal(homeOf(topic), idOf(topic));
      const parent = await repositoryOf(homeOf(topic)).git('rev-parse', '--verify', `${head}~1`);
      return commitTo(topic, parent, files, `${topic}, again\n`);
    },
    approve: topic => host.vote(homeOf(topic), idOf(topic)),
    withdrawApproval: topic => host.withdrawVotes(homeOf(topic), idOf(topic)),
    abandon: topic => host.abandon(homeOf(topic), idOf(topic)),
    async push(files) {
      const { name: home } = projectIdOf(projects[0]);
      const commit = await repositoryOf(home).commit({ ref: `refs/heads/${BRANCH}`, files });
      await host.pushed(home);
      return commit;
    },
    tip: project => repositoryOf(projectIdOf(project).name).tip(`refs/heads/${BRANCH}`),
    tree: commit =>
      repositoryOf(projectIdOf(projects[0]).name).git('rev-parse', '--verify', `${commit}^{tree}`),
    isOpen: async topic => (await host.proposal(homeOf(topic), idOf(topic))).state === 'open',
    async refuseMerges(text) {
      host.rule = text;
    },
    async ail() {
      for (const call of ['read', 'merge', 'comment'] as const)
        host.faults.fail(call, () => new HostError(503, 'the host is away'));
    },
    heal: async () => host.faults.heal(),
    remarks: async ({ key }) =>
      host
        .reports(projectIdOf(projects[0]).name, key.slice(key.indexOf('#') + 1))
        .map(({ text }) => text)
        .join('\n'),
    dependsOn: (topic, project) => `Depends-On: ${urlOf(projectIdOf(project).name, idOf(topic))}`,
    deliveries: async () => deliveries.splice(0).map(projectChanged),
    language: gitLanguage(strategy),
    async [Symbol.asyncDispose]() {
      registration[Symbol.dispose]();
      await cache.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
