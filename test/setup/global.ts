/**
 * Before the first test: a real ZooKeeper for those that want one. It is looked for, installed where that is possible, and
 * one server is started for the whole run; tests keep apart by a root node each. Where there is none, one line says why, the
 * tests that need it are counted as skipped, and the last line of the run says how many.
 */
import type { TestProject } from 'vitest/node';
import type { ServerSearch } from '../fake/zookeeper/find-server.ts';
import { findOrInstallServer } from '../fake/zookeeper/install-server.ts';
import { startZooKeeper } from '../fake/zookeeper/server.ts';
import { ON_REAL_ZOOKEEPER } from './provided.ts';

/** A run of nothing but these does without the server. */
const WITHOUT = /\/test\/(unit|property|simulation|golden)\//;
const BUT = /zookeeper/;

export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const wanted = project.vitest.state.getPaths().some(file => !WITHOUT.test(file) || BUT.test(file));
  const search: ServerSearch = wanted
    ? await findOrInstallServer()
    : { kind: 'none', reason: 'no file of this run asked for one', installable: false };
  if (search.kind === 'none') {
    const { reason } = search;
    project.provide('zooKeeper', { kind: 'none', reason });
    if (wanted) say(`real ZooKeeper: none (${reason}); the tests that need one are skipped`);
    return async () => {
      const count = skippedTests(project);
      if (wanted || count > 0) say(`real ZooKeeper: none (${reason}), ${count} tests skipped`);
    };
  }
  const server = await startZooKeeper({ server: search });
  project.provide('zooKeeper', { kind: 'found', server: search, host: server.host, port: server.port });
  return async () => {
    await server[Symbol.asyncDispose]();
    say(`real ZooKeeper: ${search.description}`);
  };
}

function skippedTests(project: TestProject): number {
  let count = 0;
  for (const module of project.vitest.state.getTestModules())
    for (const test of module.children.allTests('skipped'))
      if (test.fullName.includes(ON_REAL_ZOOKEEPER)) count++;
  return count;
}

function say(line: string): void {
  process.stderr.write(`${line}\n`);
}
