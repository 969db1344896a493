/** Gerrit on its fake: people act at the host, its webhooks come over HTTP, and the driver is connected as the service does it. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { gerritDriver } from '../../../drivers/gerrit/index.ts';
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
import { CODE_REVIEW, VERIFIED, WORKFLOW } from '../../gerrit/fake/defaults.ts';
import { type FakeGerrit, type FakeGerritOptions, startFakeGerrit } from '../../gerrit/fake/fake-gerrit.ts';
import { currentPatchSet, type FakeChange, type FakeSubmitType } from '../../gerrit/fake/world.ts';
import type { CodeHost } from './code-host.ts';
import { receiveWebhooks } from './github-host.ts';

const BRANCH = 'main';
const SECRET = 'webhook-secret';
const LIMITLESS = 1_000;

export interface GerritHost extends CodeHost {
  readonly gerrit: FakeGerrit;
}

/** alice proposes, bob approves. Gerrit itself wants the gate's vote only: what people have to approve, pipelines say. */
export async function openGerritHost(
  options: FakeGerritOptions,
  submitType: FakeSubmitType,
  asked: 'http' | 'ssh' = 'http',
): Promise<GerritHost> {
  const stack = new AsyncDisposableStack();
  const gerrit = stack.use(await startFakeGerrit(options));
  const projects = [
    projectKey({ connection: 'local', name: 'acme/app' }),
    projectKey({ connection: 'local', name: 'acme/lib' }),
  ] as const;
  const nameOf = (project: ProjectKey) => projectIdOf(project).name;
  for (const project of projects)
    await gerrit.project(nameOf(project), {
      branch: BRANCH,
      submitType,
      labels: [VERIFIED, ...[CODE_REVIEW, WORKFLOW].map(each => ({ ...each, function: 'NoBlock' as const }))],
    });
  const { connection, cache } = await connectGerrit(gerrit, asked, stack);
  const delivered: NewConnectionEvent[] = [];
  gerrit.webhooks.target = {
    url: await receiveWebhooks(connection, delivered, stack),
    headers: { authorization: `Bearer ${SECRET}` },
  };
  // The connection has seen each project once, as its first pass brings about.
  for (const project of projects)
    await gerrit.pushBranch(nameOf(project), BRANCH, { 'README.md': 'hello\n' });
  const topics = new Map<string, FakeChange>();
  const changeOf = (topic: string): FakeChange => {
    const found = topics.get(topic);
    if (found === undefined) throw new Error(`no proposal ${topic}`);
    return found;
  };
  const proposed = ({ project, number, now }: FakeChange) => ({
    key: changeKey(projectKey({ connection: 'local', name: project.name }), String(number)),
    commit: currentPatchSet(now).commit,
  });

  return {
    gerrit,
    connection,
    lands: 'api',
    projects,
    branch: BRANCH,
    config: languageOf(gerritDriver, connection),
    repositories: cache,
    language: GERRIT_LANGUAGE,
    stacks: true,
    async propose({
      topic,
      project = projects[0],
      files = { [`${Buffer.from(topic).toString('hex')}.txt`]: topic },
      message = `${topic}\n`,
      on,
    }) {
      const change = await gerrit.push({
        ...{ project: nameOf(project), files, message, topic },
        ...(on === undefined ? {} : { on: changeOf(on) }),
      });
      topics.set(topic, change);
      return proposed(change);
    },
    amend: async (topic, files) => proposed(await gerrit.amend(changeOf(topic), { files })),
    approve: topic => gerrit.vote(changeOf(topic), 'bob', { 'Code-Review': 2, Workflow: 1 }),
    withdrawApproval: topic => gerrit.deleteVote(changeOf(topic), 'bob', 'bob', 'Workflow'),
    abandon: topic => gerrit.abandon(changeOf(topic)),
    push: files => gerrit.pushBranch(nameOf(projects[0]), BRANCH, files),
    tip: project => gerrit.tip(nameOf(project), BRANCH),
    tree: commit => gerrit.tree(nameOf(projects[0]), commit),
    isOpen: async topic => changeOf(topic).now.status === 'NEW',
    async refuseMerges(text) {
      // As a plug-in that validates merges refuses them.
      const message = `Failed to submit 1 change due to the following problems:\nChange 1: ${text}`;
      const does = { kind: 'status', status: 409, message } as const;
      gerrit.faults.add({ operation: 'changes/submit', times: LIMITLESS, does });
    },
    async ail() {
      gerrit.faults.add({ times: LIMITLESS, does: { kind: 'status', status: 503, message: 'Unavailable' } });
    },
    heal: async () => gerrit.faults.heal(),
    remarks: async ({ key }) =>
      [...topics.values()]
        .filter(change => proposed(change).key === key)
        .flatMap(({ now }) => now.messages.map(({ text }) => text))
        .join('\n'),
    dependsOn: (topic, project) =>
      `Depends-On: ${gerrit.url}/c/${nameOf(project)}/+/${changeOf(topic).number}`,
    async deliveries() {
      await gerrit.webhooks.settled();
      return delivered.splice(0);
    },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

const GERRIT_LANGUAGE: CodeHost['language'] = {
  triggers: {
    proposed: { event: 'patchset-created' },
    approved: { event: 'comment-added', approval: [{ Workflow: 1 }], branch: '^main$' },
    abandoned: { event: 'change-abandoned' },
    branchMoved: { event: 'ref-updated', ref: '^refs/heads/main$' },
  },
  requirements: {
    approved: { 'current-patchset': true, approval: [{ Workflow: 1 }, { 'Code-Review': 2 }] },
    open: { open: true },
  },
  reporters: { merge: { Verified: 2, submit: true }, remark: { Verified: -1 } },
  mistakes: {
    trigger: [{ event: 'patchset-create' }, ['event']],
    requirement: [{ opne: true }, ['opne']],
    reporter: [{ submit: 'yes' }, ['submit']],
  },
};

/** The driver connected with the account `gatehouse`, as the service does it. */
async function connectGerrit(
  gerrit: FakeGerrit,
  asked: 'http' | 'ssh',
  stack: AsyncDisposableStack,
): Promise<{ readonly connection: Connection; readonly cache: RepositoryCache }> {
  const folder = await mkdtemp(path.join(tmpdir(), 'gatehouse-gerrit-host-'));
  stack.defer(() => rm(folder, { recursive: true, force: true }));
  const identity = { name: 'Gatehouse', email: 'gatehouse@example.org' };
  const cache = stack.use(
    await openRepositoryCache({
      root: path.join(folder, 'cache'),
      git: createGit({ identity, start: startAside }),
      mergeTreeMode: 'unbuffered-coprocess',
    }),
  );
  const written = {
    server: '127.0.0.1',
    baseurl: gerrit.url,
    user: 'gatehouse',
    webhook_token: SECRET,
    ...(asked === 'http' ? { password: 'gatehouse-password' } : await keyOf(gerrit)),
  };
  const at = { file: 'gatehouse.conf', line: 1 };
  const options = new Map(Object.entries(written).map(([name, value]) => [name, { value, at }]));
  const reader = optionReader({ name: 'connection local', at, options, directory: folder });
  const log = { debug() {}, info() {}, warn() {} };
  const deps = { clock: systemClock(), log, repositories: cache };
  const connection = await gerritDriver.connect('local', reader, deps);
  const problems = reader.finish();
  if (connection === undefined || problems.length > 0) throw new Error(JSON.stringify(problems));
  return { connection, cache };
}

/** Settings of an account that has a key alone. */
async function keyOf(gerrit: FakeGerrit): Promise<Readonly<Record<string, string>>> {
  const { port, keyFile, knownHostsFile } = await gerrit.openSsh();
  return {
    port: String(port),
    sshkey: keyFile,
    ssh_known_hosts: knownHostsFile,
    stream_events: 'false',
  };
}
