/**
 * Before the first test: a real ZooKeeper, Ansible, bubblewrap, Chromium and some small programs, for those that want them. Each is looked for, and installed
 * where that is possible; of ZooKeeper one server is started for the whole run, and tests keep apart by a root node each. What
 * cannot be had: one line says why, and the tests that need it are skipped by name. The last lines of the run count them; as root
 * on Debian they fail the run (`skipped-tests.ts`).
 */
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import type { TestCase, TestProject } from 'vitest/node';
import { findOrInstallServer } from '../fake/zookeeper/install-server.ts';
import { prepareToStart, startZooKeeper } from '../fake/zookeeper/server.ts';
import { builtProgram } from './built-program.ts';
import { compileCache } from './compile-cache.ts';
import { findOrInstallAnsible } from './find-ansible.ts';
import { findOrInstallBubblewrap } from './find-bubblewrap.ts';
import { findOrInstallChromium } from './find-chromium.ts';
import { findOrInstall, JQ_AND_CURL, NGINX, OPENSSH, SSH_SERVER } from './find-programs.ts';
import { memoryDisk } from './memory-disk.ts';
import { compareNotes, isWholeSuite, takeNotes } from './produced-notes.ts';
import {
  absent,
  declined,
  ON_ANSIBLE,
  ON_BUBBLEWRAP,
  ON_CHROMIUM,
  ON_JQ,
  ON_NGINX,
  ON_OPENSSH,
  ON_REAL_ZOOKEEPER,
  ON_SSHD,
  type ProvidedProgram,
} from './provided.ts';
import { type MissingTool, reportSkips } from './skipped-tests.ts';

/** A run of nothing but these does without the server. */
const WITHOUT = /\/test\/(unit|property|simulation|golden)\//;
const BUT = /zookeeper/;
/** Each would make the build otherwise, all at the same time. */
const STARTS_PROCESSES = /\/test\/(e2e|check|unit\/cmd|scenario\/tracing)/;

const PROGRAMS = [
  { key: 'ansible', what: 'Ansible', mark: ON_ANSIBLE, files: /ansible/, find: findOrInstallAnsible },
  {
    key: 'bubblewrap',
    what: 'bubblewrap',
    mark: ON_BUBBLEWRAP,
    files: /\/test\/(unit\/executor|scenario|check|e2e|conformance)\//,
    find: findOrInstallBubblewrap,
  },
  {
    key: 'chromium',
    what: 'Chromium',
    mark: ON_CHROMIUM,
    files: /\/test\/(e2e\/page|zuul-page)/,
    find: findOrInstallChromium,
  },
  { key: 'nginx', what: 'nginx', mark: ON_NGINX, files: /nginx|zuul-page/, find: () => findOrInstall(NGINX) },
  {
    key: 'jq',
    what: 'jq and curl',
    mark: ON_JQ,
    files: /compare-verdicts/,
    find: () => findOrInstall(JQ_AND_CURL),
  },
  {
    key: 'openSsh',
    what: 'OpenSSH',
    mark: ON_OPENSSH,
    files: /ssh-agent/,
    find: () => findOrInstall(OPENSSH),
  },
  {
    key: 'sshd',
    what: 'sshd',
    mark: ON_SSHD,
    files: /static-hosts|(scenario|cluster)\/pods/,
    find: () => findOrInstall(SSH_SERVER),
  },
] as const satisfies readonly {
  readonly key: string;
  readonly what: string;
  readonly mark: string;
  /** A run without any such file does without the program. */
  readonly files: RegExp;
  find(): Promise<ProvidedProgram>;
}[];

const COMPILED = path.resolve(import.meta.dirname, '../../node_modules/.cache/compiled');

/** What a run has of one tool. */
interface Readied {
  /** Said when the run ends. */
  readonly line?: string;
  readonly missing?: MissingTool;
  readonly end?: () => Promise<void>;
}

export async function setup(project: TestProject): Promise<() => Promise<void>> {
  process.env.NODE_COMPILE_CACHE ??= await compileCache(COMPILED, new Date());
  const disk = await memoryDisk();
  if (disk !== undefined) process.env.TMPDIR = disk.path;
  const files = project.vitest.state.getPaths();
  const wantsServer = files.some(file => !WITHOUT.test(file) || BUT.test(file));
  if (files.some(file => STARTS_PROCESSES.test(file))) await builtProgram();
  const readied = [await readyZooKeeper(project, wantsServer)];
  for (const { key, what, mark, files: which, find } of PROGRAMS) {
    const wanted = files.some(file => which.test(file));
    const found = wanted ? await find() : NOT_WANTED;
    project.provide(key, found);
    readied.push(
      found.kind === 'found'
        ? { line: `${what}: ${found.program}` }
        : { missing: { what, mark, wanted, absent: found } },
    );
  }
  for (const { missing } of readied)
    if (missing?.wanted === true)
      say(`${missing.what}: none (${missing.absent.reason}); the tests that need it are skipped`);
  const notes = takeNotes();
  return async () => {
    for (const { end } of readied) await end?.();
    for (const { line } of readied) if (line !== undefined) say(line);
    sayWhatWasSkipped(
      project,
      readied.flatMap(({ missing }) => missing ?? []),
    );
    const run = project.vitest.state.getTestModules().flatMap(module => [...module.children.allTests()]);
    const isWhole = isWholeSuite(project.vitest.state.getPaths()) && !isSelection(project, run);
    const all = run.every(test => test.result().state === 'passed');
    const strict = process.env.GATEHOUSE_TEST_PRODUCED === 'strict';
    const { lines, failed } = compareNotes(notes, { isWhole, all, strict });
    for (const line of lines) say(line);
    if (failed) process.exitCode = 1;
    await disk?.remove();
  };
}

const NOT_WANTED = absent('no file of this run asked for it');

async function readyZooKeeper(project: TestProject, wanted: boolean): Promise<Readied> {
  const none = process.env.GATEHOUSE_TEST_ZOOKEEPER === 'none';
  const search = wanted ? await findOrInstallServer() : NOT_WANTED;
  if (search.kind === 'none') {
    const missing = none ? declined('GATEHOUSE_TEST_ZOOKEEPER') : absent(search.reason);
    project.provide('zooKeeper', missing);
    return { missing: { what: 'real ZooKeeper', mark: ON_REAL_ZOOKEEPER, wanted, absent: missing } };
  }
  await prepareToStart(search);
  const server = await startZooKeeper({ server: search });
  project.provide('zooKeeper', { kind: 'found', server: search, host: server.host, port: server.port });
  return {
    line: `real ZooKeeper: ${search.description}`,
    end: async () => server[Symbol.asyncDispose](),
  };
}

function sayWhatWasSkipped(project: TestProject, missing: readonly MissingTool[]): void {
  const tests = project.vitest.state.getTestModules().flatMap(module => [...module.children.allTests()]);
  const { lines, failed } = reportSkips({
    names: tests.filter(isSkipped).map(({ fullName }) => fullName),
    missing,
    strict: isRootOnDebian() && !isSelection(project, tests),
  });
  for (const line of lines) say(line);
  if (failed) process.exitCode = 1;
}

function isSkipped(test: TestCase): boolean {
  return test.result().state === 'skipped';
}

/** Tests were left out by name or by a `.only`. */
function isSelection(project: TestProject, tests: readonly TestCase[]): boolean {
  return (
    project.vitest.config.testNamePattern !== undefined ||
    tests.some(({ options }) => options.mode === 'only')
  );
}

function isRootOnDebian(): boolean {
  const release = '/etc/os-release';
  return (
    process.getuid?.() === 0 && existsSync(release) && /^ID="?debian"?$/m.test(readFileSync(release, 'utf8'))
  );
}

function say(line: string): void {
  process.stderr.write(`${line}\n`);
}
