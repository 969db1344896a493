/**
 * Two checkouts, made for one comparison and removed with it: zuul-jobs with a job for each case, and a config-project with a `base` that
 * prepares machines as those of sites do, with roles of zuul-jobs.
 */
import { execFile } from 'node:child_process';
import { cp, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { type Case, type Cases, jobCases, jobStanzas, jobsOf } from './cases.ts';

/** Under which the roles know themselves. */
export const PROJECT = 'opendev.org/zuul/zuul-jobs';
export const CONFIG_PROJECT = 'opendev.org/compat/config';
export const NODE = 'debian-bookworm';
const ROLE_PLAYBOOK = 'compat/role.yaml';
/** Sites have it beside base; it prepares nothing. */
const BARE = 'base-minimal';

/** Where builds run: on the executor, or on a host over ssh. */
export type PlaceName = 'local' | 'ssh';

export interface ZuulJobsSite extends Cases {
  readonly checkout: string;
  readonly config: string;
  /** Names of all roles. */
  readonly roles: readonly string[];
}

const TESTS = 'zuul-tests.d';

/** @param source a checkout of zuul-jobs; it is not written to. @param directory exists. */
export async function makeSite(source: string, directory: string): Promise<ZuulJobsSite> {
  const checkout = path.join(directory, 'zuul-jobs');
  await cp(source, checkout, {
    recursive: true,
    verbatimSymlinks: true,
    filter: file => path.basename(file) !== '.git',
  });
  const tests = await filesIn(path.join(checkout, TESTS));
  const roles = await directoriesIn(path.join(checkout, 'roles'));
  const { cases, refusals } = jobCases(tests.map(({ text }) => text));
  const all: readonly Case[] = [...cases, ...roles.map(name => ({ name, kind: 'role' as const }))];
  const forRole = { parent: BARE, run: ROLE_PLAYBOOK };
  const jobs = [...jobsOf(all, 'local', [], forRole), ...jobsOf(all, 'ssh', [NODE], forRole)];
  await write(
    checkout,
    'zuul.d/compat-tests.yaml',
    JSON.stringify(tests.flatMap(({ text }) => jobStanzas(text))),
  );
  // JSON is YAML.
  await write(checkout, 'zuul.d/compat.yaml', JSON.stringify(jobs));
  await write(checkout, ROLE_PLAYBOOK, ROLE_TEXT);
  const config = path.join(directory, 'config');
  await write(config, 'zuul.yaml', BASE);
  await write(config, 'playbooks/pre.yaml', PREPARE);
  for (const place of [checkout, config]) await commitAll(place);
  return { checkout, config, roles, cases, refusals };
}

const ROLE_TEXT = `
- hosts: all
  tasks:
    - include_role: {name: "{{ role_name }}"}
`;
const BASE = `
- job:
    name: ${BARE}
    parent: null
    network: true
    timeout: 300
- job:
    name: base
    parent: ${BARE}
    pre-run: playbooks/pre.yaml
    roles: [{zuul: ${PROJECT}}]
`;
/** Sources lie below the home of a node, as Zuul's jobs expect; on the executor each playbook has a home of its own. */
const PREPARE = `
- hosts: all
  tasks:
    - when: ansible_connection != 'local'
      block:
        - name: Pack the sources
          command: tar -czf {{ zuul.executor.work_root }}/src.tar.gz -C {{ zuul.executor.work_root }} src
          delegate_to: localhost
        - name: Unpack the sources
          unarchive: {src: "{{ zuul.executor.work_root }}/src.tar.gz", dest: "{{ ansible_user_dir }}"}
    - include_role: {name: ensure-output-dirs}
`;

async function write(place: string, name: string, text: string): Promise<void> {
  const file = path.join(place, name);
  await mkdir(path.dirname(file), { recursive: true });
  await writeFile(file, text);
}

async function filesIn(directory: string) {
  const names = (await readdir(directory)).filter(name => /\.ya?ml$/.test(name)).toSorted();
  return await Promise.all(
    names.map(async name => ({ name, text: await readFile(path.join(directory, name), 'utf8') })),
  );
}

async function directoriesIn(directory: string): Promise<readonly string[]> {
  const entries = await readdir(directory, { withFileTypes: true });
  return entries.flatMap(entry => (entry.isDirectory() ? [entry.name] : [])).toSorted();
}

async function commitAll(place: string): Promise<void> {
  const person = ['-c', 'user.name=compat', '-c', 'user.email=compat@localhost'];
  for (const args of [
    ['init', '-q', '-b', 'master'],
    ['add', '-A', '-f'],
    ['commit', '-q', '-m', 'as given'],
  ])
    await promisify(execFile)('git', [...person, ...args], { cwd: place });
}
