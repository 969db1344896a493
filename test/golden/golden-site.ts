/** The site of the golden store tree: repositories, settings, and jobs that do what `golden-job` on the PATH says. */
import { chmod, mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { readSettings } from '../../src/settings/read-settings.ts';
import type { Settings } from '../../src/settings/settings.ts';
import { BASE_JOB } from '../fake/layout-text.ts';

export const TENANT = 'tenant-one';
export const PROJECTS = ['org/config', 'org/project', 'org/project1', 'org/project2'] as const;
export const TOKEN = 'token of the golden site';

const pipeline = (name: string, ...more: readonly string[]) =>
  [
    '',
    '- pipeline:',
    `    name: ${name}`,
    ...more.map(line => `    ${line}`),
    '    failure:',
    '      local: {note: true}',
    '    merge-conflict:',
    '      local: {note: true}',
    '',
  ].join('\n');

/** check is independent; gate has a window of three; org/project1 and org/project2 share a queue. */
export const LAYOUT = [
  pipeline(
    'check',
    'manager: independent',
    'trigger:',
    '  local: [{event: proposed}]',
    'success:',
    '  local: {note: true}',
  ),
  pipeline(
    'gate',
    'manager: dependent',
    'precedence: high',
    'window: 3',
    'require:',
    '  local: {approved: true, open: true, current-patchset: true}',
    'trigger:',
    '  local: [{event: approved}]',
    'success:',
    '  local: {merge: true, note: true}',
  ),
  '\n- queue:\n    name: integrated\n',
  BASE_JOB,
  '\n- job:\n    name: quick\n- job:\n    name: slow\n',
  ...PROJECTS.slice(1).map(
    name => `
- project:
    name: ${name}
    queue: ${name === 'org/project' ? 'alone' : 'integrated'}
    check:
      jobs: [quick]
    gate:
      jobs: [quick, slow: {dependencies: [quick]}]
`,
  ),
  '\n- queue:\n    name: alone\n',
].join('');

export const JOB = '#!/bin/sh\nexec golden-job\n';

/** Puts `golden-job` with this body first on the PATH of jobs. */
export async function installJob(root: string, ...body: readonly string[]): Promise<void> {
  const bin = path.join(root, 'bin');
  await mkdir(bin, { recursive: true });
  await writeFile(path.join(bin, 'golden-job'), ['#!/bin/sh', ...body, ''].join('\n'));
  await chmod(path.join(bin, 'golden-job'), 0o755);
  process.env.PATH = `${bin}${path.delimiter}${process.env.PATH ?? ''}`;
}

export interface GoldenSettings {
  readonly root: string;
  /** Lines of `[zookeeper]`; none: the embedded store. */
  readonly zookeeper?: readonly string[];
  /** Of the collector; none: spans are made and wait in the outbox. */
  readonly collector?: string;
}

export async function goldenSettings({ root, zookeeper, collector }: GoldenSettings): Promise<Settings> {
  const file = path.join(root, 'etc/gatehouse.conf');
  await mkdir(path.dirname(file), { recursive: true });
  const text = `[scheduler]
tenant_config = tenants.yaml
state_dir = ${root}/state
${zookeeper === undefined ? '' : `\n[zookeeper]\n${zookeeper.join('\n')}\n`}
[web]
port = 0

[executor]
sandbox = none
max_builds = 30
labels = linux

[tracing]
enabled = true
endpoint = ${collector ?? 'http://127.0.0.1:1'}
timeout = 2000
# What the tree holds was written long ago, and gets older every day.
outbox_max_age = 36500d

[connection local]
driver = git
baseurl = ${root}/repositories
proposals = for/{branch}/{topic}
webhook_token = ${TOKEN}
poll_interval = 0
`;
  await writeFile(file, text, { mode: 0o600 });
  const tenants = `- tenant:
    name: ${TENANT}
    source:
      local:
        config-projects: [${PROJECTS[0]}]
        untrusted-projects: [${PROJECTS.slice(1).join(', ')}]
`;
  await writeFile(path.join(root, 'etc/tenants.yaml'), tenants);
  const read = readSettings(file, {});
  if (read.kind === 'invalid') throw new Error(read.errors.join('\n'));
  return read.settings;
}
