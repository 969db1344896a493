/**
 * Before the first test: a real ZooKeeper, and Ansible, for those that want them. Each is looked for and installed where that is
 * possible; of ZooKeeper one server is started for the whole run, and tests keep apart by a root node each. What cannot be had: one
 * line says why, the tests that need it are counted as skipped, and the last lines of the run say how many.
 */
import type { TestProject } from 'vitest/node';
import type { ServerSearch } from '../fake/zookeeper/find-server.ts';
import { findOrInstallServer } from '../fake/zookeeper/install-server.ts';
import { startZooKeeper } from '../fake/zookeeper/server.ts';
import { findOrInstallAnsible } from './find-ansible.ts';
import { ON_ANSIBLE, ON_REAL_ZOOKEEPER, type ProvidedAnsible } from './provided.ts';

/** A run of nothing but these does without the server. */
const WITHOUT = /\/test\/(unit|property|simulation|golden)\//;
const BUT = /zookeeper/;

type End = () => Promise<void>;

export async function setup(project: TestProject): Promise<End> {
  const files = project.vitest.state.getPaths();
  const ends = [
    await setUpZooKeeper(
      project,
      files.some(file => !WITHOUT.test(file) || BUT.test(file)),
    ),
    await setUpAnsible(
      project,
      files.some(file => /ansible/.test(file)),
    ),
  ];
  return async () => {
    for (const end of ends) await end();
  };
}

async function setUpZooKeeper(project: TestProject, wanted: boolean): Promise<End> {
  const search: ServerSearch = wanted
    ? await findOrInstallServer()
    : { kind: 'none', reason: 'no file of this run asked for one', installable: false };
  if (search.kind === 'none') {
    const { reason } = search;
    project.provide('zooKeeper', { kind: 'none', reason });
    return absent(project, { wanted, what: 'real ZooKeeper', mark: ON_REAL_ZOOKEEPER, reason });
  }
  const server = await startZooKeeper({ server: search });
  project.provide('zooKeeper', { kind: 'found', server: search, host: server.host, port: server.port });
  return async () => {
    await server[Symbol.asyncDispose]();
    say(`real ZooKeeper: ${search.description}`);
  };
}

async function setUpAnsible(project: TestProject, wanted: boolean): Promise<End> {
  const found: ProvidedAnsible = wanted
    ? await findOrInstallAnsible()
    : { kind: 'none', reason: 'no file of this run asked for it' };
  project.provide('ansible', found);
  if (found.kind === 'found') return async () => say(`Ansible: ${found.program}`);
  return absent(project, { wanted, what: 'Ansible', mark: ON_ANSIBLE, reason: found.reason });
}

interface Absent {
  readonly wanted: boolean;
  readonly what: string;
  readonly mark: string;
  readonly reason: string;
}

function absent(project: TestProject, { wanted, what, mark, reason }: Absent): End {
  if (wanted) say(`${what}: none (${reason}); the tests that need it are skipped`);
  return async () => {
    const count = skippedTests(project, mark);
    if (wanted || count > 0) say(`${what}: none (${reason}), ${count} tests skipped`);
  };
}

function skippedTests(project: TestProject, mark: string): number {
  let count = 0;
  for (const module of project.vitest.state.getTestModules())
    for (const test of module.children.allTests('skipped')) if (test.fullName.includes(mark)) count++;
  return count;
}

function say(line: string): void {
  process.stderr.write(`${line}\n`);
}
