/** What `gate` runs on: two repositories with the hooks that users install, and a service of its own process over them. */
import { type ChildProcess, fork } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { installPostReceiveHook } from '../../../drivers/git/install-hook.ts';
import { createRepository } from '../../../src/cmd/quickstart/developer.ts';
import { freePort } from '../../../src/cmd/quickstart/service-process.ts';
import type { GateAnswer, GateQuestion } from './main.ts';

export const TENANT = 'bench';
const [CONNECTION, CONFIG, APP] = ['local', 'org/config', 'org/app'];

/** A project's bare repository, and a developer's clone of it. */
export interface Developed {
  readonly bare: string;
  readonly clone: string;
}

export interface GateSite extends AsyncDisposable, Developed {
  readonly url: string;
  /** Path of the settings. */
  readonly config: string;
  /** Where the logs of builds are. */
  readonly logs: string;
  ask(question: GateQuestion): Promise<GateAnswer>;
  /** Milliseconds of processor time of all helpers of the service, and of what they started and have seen end. */
  helperTime(helpers: readonly number[]): Promise<number>;
}

const PIPELINES = `
- pipeline:
    name: check
    manager: independent
    trigger: {local: [{event: proposed}]}
    success: {local: {note: true}}
    failure: {local: {note: true}}
- pipeline:
    name: gate
    manager: dependent
    precedence: high
    require: {local: {approved: true, open: true, current-patchset: true}}
    trigger: {local: [{event: approved}]}
    success: {local: {merge: true, note: true}}
    failure: {local: {note: true}}
- job: {name: base, abstract: true, timeout: 60}
- job: {name: trivial, parent: base, run: playbooks/trivial.sh}
`;
const SCRIPT = { path: 'playbooks/trivial.sh', text: '#!/bin/sh\necho begun\n', executable: true };

/** @param pipelines in which the project runs its one job. */
export async function openGateSite(...pipelines: readonly ('check' | 'gate')[]): Promise<GateSite> {
  await using stack = new AsyncDisposableStack();
  const root = await mkdtemp(path.join(tmpdir(), 'gatehouse-gate-'));
  stack.defer(() => rm(root, { recursive: true, force: true }));
  const port = await freePort(0);
  const files = new Map([
    [CONFIG, [{ path: 'zuul.yaml', text: PIPELINES }, SCRIPT]],
    [APP, [{ path: '.zuul.yaml', text: projectOf(pipelines) }]],
  ]);
  const place = (folder: string, project: string) => path.join(root, folder, project);
  for (const [project, content] of files) {
    const bare = `${place('repositories', project)}.git`;
    await createRepository(bare, place('clones', project), content);
    const url = `http://127.0.0.1:${port}/api/connection/${CONNECTION}/payload`;
    await installPostReceiveHook(bare, { url, token: 'bench', project });
  }
  // Watched for notes.
  await mkdir(`${place('repositories', APP)}.git/refs/notes`);
  const config = await writeSettings(root, port);
  const service = stack.use(await startGateService(config));
  const owned = stack.move();
  return {
    url: service.first.url,
    config,
    bare: `${place('repositories', APP)}.git`,
    clone: place('clones', APP),
    logs: path.join(root, 'state/logs'),
    ask: service.ask,
    helperTime,
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

function projectOf(pipelines: readonly string[]): string {
  return `- project: {${pipelines.map(pipeline => `${pipeline}: {jobs: [trivial]}`).join(', ')}}\n`;
}

async function writeSettings(root: string, port: number): Promise<string> {
  const config = path.join(root, 'etc/gatehouse.conf');
  await mkdir(path.dirname(config), { recursive: true });
  const lines = [
    ['[scheduler]', 'tenant_config = tenants.yaml', `state_dir = ${path.join(root, 'state')}`],
    ['[web]', `port = ${port}`],
    ['[executor]', 'allow_unsandboxed = true'],
    [
      ...[`[connection ${CONNECTION}]`, 'driver = git', `baseurl = ${path.join(root, 'repositories')}`],
      ...['proposals = for/{branch}/{topic}', 'webhook_token = bench', 'poll_interval = 3600'],
    ],
  ];
  await writeFile(config, lines.map(section => `${section.join('\n')}\n`).join('\n'), { mode: 0o600 });
  const source = `{${CONNECTION}: {config-projects: [${CONFIG}], untrusted-projects: [${APP}]}}`;
  await writeFile(path.join(root, 'etc/tenants.yaml'), `- tenant: {name: ${TENANT}, source: ${source}}\n`);
  return config;
}

/** @param config path of the settings. @param flags of Node. @param components none: all of them. */
export async function startGateService(
  config: string,
  flags: readonly string[] = [],
  components: readonly string[] = [],
) {
  const child = fork(path.join(import.meta.dirname, 'main.ts'), [config, ...components], {
    stdio: 'inherit',
    execArgv: [...process.execArgv, ...flags],
  });
  const ended = new Promise<void>(resolve => void child.once('exit', () => resolve()));
  const first = await answerOf(child, ended);
  return {
    first,
    async ask(question: GateQuestion) {
      child.send(question);
      return answerOf(child, ended);
    },
    async [Symbol.asyncDispose]() {
      if (child.connected) child.disconnect();
      await ended;
    },
  };
}

function answerOf(child: ChildProcess, ended: Promise<void>): Promise<GateAnswer> {
  return new Promise((resolve, reject) => {
    child.once('message', answer => resolve(answer as GateAnswer));
    void ended.then(() => reject(new Error('the service ended')));
  });
}

/** Of `/proc`, in which the kernel counts a hundred ticks a second. */
const MS_PER_TICK = 10;

export async function helperTime(helpers: readonly number[]): Promise<number> {
  let ticks = 0;
  for (const pid of helpers) {
    // The name, in parentheses, may contain anything.
    const fields = (await readFile(`/proc/${pid}/stat`, 'latin1')).replace(/^.*\) /s, '').split(' ');
    ticks += fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0);
  }
  return ticks * MS_PER_TICK;
}
