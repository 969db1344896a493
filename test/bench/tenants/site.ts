/** Many tenants with many projects each: real repositories, copied from one, and the settings of a service over them. */
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { createRepository } from '../../../src/cmd/quickstart/developer.ts';

const run = promisify(execFile);

/** Of the connection on which all projects are. */
const CONNECTION = 'local';

export interface TenantsSite extends AsyncDisposable {
  /** Path of the settings. */
  readonly config: string;
  readonly repositories: string;
  readonly root: string;
  /** A clone of any of its projects that are no config-project: they have the same first commit. */
  readonly clone: string;
}

export interface TenantsSize {
  readonly tenants: number;
  /** Of each tenant, one of them its config-project. */
  readonly projects: number;
  /** Seconds; undefined: the driver's default. */
  readonly pollInterval?: number;
  /** Port of the web; undefined: any. */
  readonly port?: number;
  /** More sections of the settings. */
  readonly sections?: readonly string[];
  /** In which projects run their one job; default both. */
  readonly pipelines?: readonly ('check' | 'gate')[];
}

const PIPELINES = `
- pipeline:
    name: check
    manager: independent
    trigger: {${CONNECTION}: [{event: proposed}]}
    success: {${CONNECTION}: {note: true}}
    failure: {${CONNECTION}: {note: true}}
- pipeline:
    name: gate
    manager: dependent
    precedence: high
    require: {${CONNECTION}: {approved: true, open: true, current-patchset: true}}
    trigger: {${CONNECTION}: [{event: approved}]}
    success: {${CONNECTION}: {merge: true, note: true}}
    failure: {${CONNECTION}: {note: true}}
- job: {name: base, abstract: true, timeout: 60}
- job: {name: trivial, parent: base, run: playbooks/trivial.sh}
`;
const SCRIPT = { path: 'playbooks/trivial.sh', text: '#!/bin/sh\necho begun\n', executable: true };
const projectIn = (pipelines: readonly string[]) =>
  `- project: {${pipelines.map(pipeline => `${pipeline}: {jobs: [trivial]}`).join(', ')}}\n`;

/** In a folder of its own, which is removed at the end. */
export async function makeTenantsSite(size: TenantsSize): Promise<TenantsSite> {
  await using stack = new AsyncDisposableStack();
  const root = await mkdtemp(path.join(tmpdir(), 'gatehouse-tenants-'));
  stack.defer(() => rm(root, { recursive: true, force: true }));
  const repositories = path.join(root, 'repositories');
  await makeRepositories(root, repositories, size);
  const config = await writeSettings(root, repositories, size);
  const owned = stack.move();
  const clone = path.join(root, 'clones/app');
  return { config, repositories, root, clone, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

export function tenantName(index: number): string {
  return `tenant${String(index).padStart(2, '0')}`;
}

async function makeRepositories(root: string, repositories: string, size: TenantsSize): Promise<void> {
  const template = path.join(root, 'template');
  const clone = (name: string) => path.join(root, 'clones', name);
  await mkdir(repositories, { recursive: true });
  const config = path.join(template, 'config.git');
  await createRepository(config, clone('config'), [{ path: 'zuul.yaml', text: PIPELINES }, SCRIPT]);
  const app = path.join(root, 'app.git');
  await createRepository(app, clone('app'), [
    { path: '.zuul.yaml', text: projectIn(size.pipelines ?? ['check', 'gate']) },
    { path: 'README.md', text: 'app\n' },
  ]);
  for (const bare of [config, app]) await rm(path.join(bare, 'hooks'), { recursive: true });
  for (let index = 1; index < size.projects; index++)
    await run('cp', ['-r', app, path.join(template, `app${index}.git`)]);
  for (let index = 1; index < size.tenants; index++)
    await run('cp', ['-r', template, path.join(repositories, tenantName(index))]);
  await rename(template, path.join(repositories, tenantName(0)));
}

async function writeSettings(root: string, repositories: string, size: TenantsSize): Promise<string> {
  const config = path.join(root, 'etc/gatehouse.conf');
  await mkdir(path.dirname(config), { recursive: true });
  const poll = size.pollInterval === undefined ? [] : [`poll_interval = ${size.pollInterval}`];
  const lines = [
    ['[scheduler]', 'tenant_config = tenants.yaml', `state_dir = ${path.join(root, 'state')}`],
    ['[web]', `port = ${size.port ?? 0}`],
    ['[executor]', 'allow_unsandboxed = true'],
    [
      ...[`[connection ${CONNECTION}]`, 'driver = git', `baseurl = ${repositories}`],
      ...['proposals = for/{branch}/{topic}', 'webhook_token = bench', ...poll],
    ],
  ];
  const sections = [...lines.map(section => section.join('\n')), ...(size.sections ?? [])];
  await writeFile(config, sections.map(section => `${section}\n`).join('\n'), { mode: 0o600 });
  const tenants = Array.from({ length: size.tenants }, (_, index) => {
    const own = tenantName(index);
    const apps = Array.from({ length: size.projects - 1 }, (_, app) => `${own}/app${app + 1}`);
    return `- tenant:
    name: ${own}
    source:
      ${CONNECTION}: {config-projects: [${own}/config], untrusted-projects: [${apps.join(', ')}]}
`;
  });
  await writeFile(path.join(root, 'etc/tenants.yaml'), tenants.join(''));
  return config;
}
