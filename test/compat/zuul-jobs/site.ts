/**
 * A site, made for one comparison and removed with it: repositories with zuul-jobs as it is, a project for roles to work on, and a
 * config-project with a `base` that prepares machines as those of sites do, with roles of zuul-jobs; its settings and its tenant.
 *
 *     zuul/zuul-jobs    unchanged; a change of it runs the jobs of zuul-tests.d
 *     compat/work       a change of it runs each role alone
 *     compat/config     pipeline, base jobs, jobs of the cases
 */
import { execFile } from 'node:child_process';
import { cp, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { type Case, type Cases, casesOf, jobsOf, type PlaceName, STAND_INS } from './cases.ts';
import { ROLE_VALUES } from './role-values.ts';
import type { ThrowawayHost } from './throwaway-hosts.ts';
import { WORK_PROJECT } from './work-project.ts';

export const TENANT = 'compat';
const LIBRARY = 'zuul/zuul-jobs';
const CONFIG = 'compat/config';
const WORK = 'compat/work';
const TESTS = 'zuul-tests.d';

/** What a checkout of zuul-jobs has. */
export interface Checkout extends Cases {
  /** Names of all roles. */
  readonly roles: readonly string[];
}

export async function readCheckout(directory: string): Promise<Checkout> {
  const [tests, jobs] = await Promise.all([TESTS, 'zuul.d'].map(each => textsIn(path.join(directory, each))));
  const entries = await readdir(path.join(directory, 'roles'), { withFileTypes: true });
  const roles = entries.flatMap(entry => (entry.isDirectory() ? [entry.name] : [])).toSorted();
  return { roles, ...casesOf({ tests: tests ?? [], jobs: jobs ?? [], roles }) };
}

/** What runs at a place. */
export interface PlacedCases {
  readonly place: PlaceName;
  readonly cases: readonly Case[];
  /** One for each case, in their order. None: they run on the executor. */
  readonly hosts: readonly ThrowawayHost[];
}

export interface SiteOptions {
  /** A checkout of zuul-jobs; it is not written to. */
  readonly source: string;
  /** Exists, and other users may pass through. */
  readonly directory: string;
  readonly placed: readonly PlacedCases[];
  /** Private key of the hosts. */
  readonly key: string;
  /** Folder of a version of Ansible, as in `[executor] ansible_root`; undefined: the one on the PATH. */
  readonly ansible: string | undefined;
  /** Builds at a time. */
  readonly atOnce: number;
}

/** @returns the settings file. */
export async function makeSite(options: SiteOptions): Promise<string> {
  const { source, directory, placed } = options;
  const at = (project: string) => path.join(directory, 'work', project);
  await cp(source, at(LIBRARY), {
    recursive: true,
    verbatimSymlinks: true,
    filter: file => path.basename(file) !== '.git',
  });
  await writeAll(at(WORK), WORK_PROJECT);
  await writeAll(at(CONFIG), configFiles(placed));
  for (const project of STAND_INS) await writeAll(at(project), { 'README.md': 'A stand-in.\n' });
  for (const project of [LIBRARY, WORK, CONFIG, ...STAND_INS])
    await publish(at(project), path.join(directory, 'repositories', `${project}.git`));
  const file = path.join(directory, 'gatehouse.conf');
  await writeAll(directory, {
    'gatehouse.conf': settingsText(options),
    'tenants.yaml': TENANTS,
    'nodes.yaml': nodesText(options),
  });
  return file;
}

/** Proposes a change of each project whose jobs are wanted. @returns how many. */
export async function propose(directory: string, placed: readonly PlacedCases[]): Promise<number> {
  const kinds = new Set(placed.flatMap(({ cases }) => cases.map(({ kind }) => kind)));
  for (const kind of kinds) {
    const checkout = path.join(directory, 'work', PROJECT_OF[kind]);
    await writeAll(checkout, { 'compat.txt': 'a change\n' });
    await commitAll(checkout, 'Try what there is');
    await git(checkout, 'push', '-q', 'origin', 'HEAD:refs/heads/for/master/compat');
  }
  return kinds.size;
}

const PROJECT_OF = { job: LIBRARY, role: WORK } as const;

function configFiles(placed: readonly PlacedCases[]): { readonly [file: string]: string } {
  const forRole = (role: string) => ({
    ...{ parent: 'base-minimal', roles: [{ zuul: LIBRARY }] },
    run: playbookOf(role),
  });
  const jobs = placed.flatMap(({ place, cases, hosts }) => {
    const labels = new Map(cases.map((each, index) => [each, hosts[index]?.name]));
    return jobsOf(cases, place, each => labels.get(each), forRole);
  });
  const projects = (['job', 'role'] as const).map(kind => ({
    project: {
      name: PROJECT_OF[kind],
      compat: { jobs: jobs.flatMap(({ job: { name } }) => (isOf(kind, String(name)) ? [name] : [])) },
    },
  }));
  return {
    'zuul.d/base.yaml': BASE,
    // JSON is YAML.
    'zuul.d/cases.yaml': JSON.stringify([...jobs, ...projects]),
    'playbooks/pre.yaml': PREPARE,
    ...Object.fromEntries(
      placed.flatMap(({ cases }) => cases.map(({ name }) => [playbookOf(name), rolePlaybook(name)] as const)),
    ),
  };
}

function playbookOf(role: string): string {
  return `playbooks/${role}.yaml`;
}

function isOf(kind: Case['kind'], job: string): boolean {
  return job.split('-')[2] === kind;
}

const TENANTS = JSON.stringify([
  {
    tenant: {
      name: TENANT,
      'max-job-timeout': -1,
      source: {
        opendev: {
          'config-projects': [CONFIG],
          'untrusted-projects': [
            // Its own projects stanzas name jobs of other repositories.
            { [LIBRARY]: { 'extra-config-paths': [`${TESTS}/`], include: ['job'] } },
            { [WORK]: { include: [] } },
            ...STAND_INS.map(name => ({ [name]: { include: [] } })),
          ],
        },
      },
    },
  },
]);
const BASE = `
- pipeline:
    name: compat
    manager: independent
    trigger: {opendev: [{event: proposed}]}
- job:
    name: base-minimal
    parent: null
    network: true
    timeout: 600
- job:
    name: base
    parent: base-minimal
    pre-run: playbooks/pre.yaml
    roles: [{zuul: ${LIBRARY}}]
`;
/** Sources lie below the home of a node, as Zuul's jobs expect: with all their objects, which are borrowed on the executor. */
const BRING_SOURCES = [
  {
    name: 'Pack the sources',
    when: "ansible_connection != 'local'",
    delegate_to: 'localhost',
    shell: `for git in */*/*/.git; do git -C $git repack -adq && rm -f $git/objects/info/alternates; done
tar -czf ../src.tar.gz -C .. src`,
    args: { chdir: '{{ zuul.executor.src_root }}' },
  },
  {
    name: 'Unpack the sources',
    when: "ansible_connection != 'local'",
    unarchive: { src: '{{ zuul.executor.work_root }}/src.tar.gz', dest: '{{ ansible_user_dir }}' },
  },
];
const PREPARE = JSON.stringify([
  { hosts: 'all', tasks: [...BRING_SOURCES, { include_role: { name: 'ensure-output-dirs' } }] },
]);

/**
 * The role with the values that it needs, which Ansible evaluates, in the one playbook of its job: each start of Ansible takes seconds. Other
 * roles of a job leave something for those that come last: results in the work directory, on the node and in its home.
 */
function rolePlaybook(role: string): string {
  const { vars = {}, before = [] } = ROLE_VALUES[role] ?? {};
  const tasks = [
    ...BRING_SOURCES,
    {
      ...{ name: 'Leave results on the executor', delegate_to: 'localhost', shell: LEAVE },
      args: { chdir: '{{ zuul.executor.work_root }}' },
    },
    { name: 'Leave results on the node', shell: LEAVE_ON_NODE },
    // Variables of roles themselves win over those of plays.
    ...[...before, role].map(name => ({ include_role: { name }, vars })),
  ];
  return JSON.stringify([{ hosts: 'all', tasks }]);
}

const LEAVE = `mkdir -p artifacts docs logs
for each in artifacts docs logs; do echo text >$each/notes.txt; done`;
const LEAVE_ON_NODE = `cd && mkdir -p zuul-output/artifacts zuul-output/docs zuul-output/logs test-results/last .launchpadlib .gnupg
for each in zuul-output/logs/notes.txt test-results/last/result.xml .launchpadlib/creds .gnupg/key; do echo text >$each; done`;

function settingsText({ directory, ansible, atOnce }: SiteOptions): string {
  const version = ansible === undefined ? undefined : path.basename(ansible);
  const versions =
    version === undefined ? '' : `ansible_versions = ${version}\ndefault_ansible_version = ${version}\n`;
  const root = ansible === undefined ? '' : `ansible_root = ${path.dirname(ansible)}\n`;
  return `[scheduler]
tenant_config = tenants.yaml
state_dir = ${directory}/state
${versions}
[web]
port = 0

[executor]
log_dir = ${directory}/logs
max_builds = ${atOnce}
allow_host_network = true
disk_limit_per_job = 4000
${root}
[tracing]
enabled = false

[nodes]
config = nodes.yaml

[connection opendev]
driver = git
baseurl = ${directory}/repositories
canonical_hostname = opendev.org
proposals = for/{branch}/{topic}
poll_interval = 1
`;
}

function nodesText({ key, placed }: SiteOptions): string {
  const hosts = placed.flatMap(each => each.hosts);
  return JSON.stringify({
    'private-key': key,
    hosts: hosts.map(({ name, port, hostKey, user }) => ({
      ...{ name, address: '127.0.0.1', port, username: user, 'host-key': hostKey, labels: [name] },
    })),
  });
}

async function writeAll(place: string, files: { readonly [name: string]: string }): Promise<void> {
  for (const [name, text] of Object.entries(files)) {
    const file = path.join(place, name);
    await mkdir(path.dirname(file), { recursive: true });
    await writeFile(file, text, { mode: text.startsWith('#!') ? 0o755 : 0o644 });
  }
}

async function textsIn(directory: string): Promise<readonly string[]> {
  const names = (await readdir(directory)).filter(name => /\.ya?ml$/.test(name)).toSorted();
  return await Promise.all(names.map(name => readFile(path.join(directory, name), 'utf8')));
}

/** Makes a repository of the files, and a bare one that they are pushed to. */
async function publish(checkout: string, bare: string): Promise<void> {
  await mkdir(bare, { recursive: true });
  await git(bare, 'init', '-q', '--bare', '-b', 'master');
  await git(checkout, 'init', '-q', '-b', 'master');
  await commitAll(checkout, 'As given');
  await git(checkout, 'remote', 'add', 'origin', bare);
  await git(checkout, 'push', '-q', 'origin', 'master');
}

async function commitAll(checkout: string, message: string): Promise<void> {
  await git(checkout, 'add', '-A', '-f');
  await git(checkout, 'commit', '-q', '-m', message);
}

async function git(cwd: string, ...args: readonly string[]): Promise<void> {
  const person = ['-c', 'user.name=compat', '-c', 'user.email=compat@localhost'];
  await promisify(execFile)('git', [...person, ...args], { cwd });
}
