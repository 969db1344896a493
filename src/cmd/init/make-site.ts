/**
 * Makes what a first gate needs, and nothing that is there already:
 *
 *     DIR/gatehouse.conf, DIR/tenants.yaml    settings and tenant of the service; state/ beside them
 *     DIR/gatehouse.service                   unit for systemd
 *     DIR/config                              a clone of the config project, to work in
 *     DIR/example                             a first job, to be copied into a repository
 *     REPOSITORIES/CONFIG.git                 the config project, with the hook
 */
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { installPostReceiveHook } from '../../../drivers/git/install-hook.ts';
import { baseUrlProblem, projectNameProblem } from '../../../drivers/git/project-url.ts';
import { createGit } from '../../git/process/git.ts';
import { type Refused, refused } from '../commands/refused.ts';
import { CONNECTION } from '../quickstart/demo-files.ts';
import { writeFiles } from '../quickstart/developer.ts';
import { type FoundRepositories, findRepositories } from './find-repositories.ts';
import {
  CONFIG_BRANCH,
  CONFIG_PROJECT_FILES,
  EXAMPLE_FILES,
  settingsText,
  tenantsText,
  unitText,
} from './first-files.ts';
import { hookUrl } from './hook-url.ts';

/** Paths are absolute. */
export interface SiteQuestion {
  /** Absent or empty. */
  readonly directory: string;
  /** Below it are the repositories, and the config project will be. */
  readonly repositories: string;
  readonly tenant: string;
  /** Its name, without `.git`. */
  readonly configProject: string;
  readonly port: number;
  readonly token: string;
  /** What the unit starts, without its arguments. */
  readonly command: readonly string[];
  readonly user: string;
}

/** What was made. */
export interface MadeSite {
  readonly kind: 'made';
  readonly settings: string;
  readonly tenants: string;
  readonly unit: string;
  readonly configRepository: string;
  readonly configClone: string;
  readonly example: string;
  readonly found: FoundRepositories;
}

/** After a failure nothing of it is left. @throws Error when a file cannot be written. */
export async function makeSite(question: SiteQuestion): Promise<MadeSite | Refused> {
  const { directory, repositories, configProject } = question;
  const problem = baseUrlProblem(repositories) ?? nameProblem('tenant', question.tenant);
  if (problem !== undefined) return refused(problem);
  const nameTrouble = projectNameProblem(configProject);
  if (nameTrouble !== undefined) return refused(`"${configProject}" ${nameTrouble}`);
  const configRepository = path.join(repositories, `${configProject}.git`);
  for (const place of [path.join(repositories, configProject), configRepository]) {
    if ((await namesIn(place)) !== undefined)
      return refused(`${place} exists; name another config project with --config-project`);
  }
  if (((await namesIn(directory)) ?? []).length > 0)
    return refused(`${directory} is not empty; name a directory that is, or remove it`);
  const found = await findRepositories(repositories);
  try {
    return await make(question, configRepository, found);
  } catch (error) {
    for (const place of [directory, configRepository]) await rm(place, { recursive: true, force: true });
    throw error;
  }
}

async function make(
  question: SiteQuestion,
  configRepository: string,
  found: FoundRepositories,
): Promise<MadeSite> {
  const { directory, repositories, configProject, port, token, tenant, command, user } = question;
  const at = (name: string) => path.join(directory, name);
  const [settings, tenants, unit] = [at('gatehouse.conf'), at('tenants.yaml'), at('gatehouse.service')];
  const made = {
    settings,
    tenants,
    unit,
    configRepository,
    configClone: at('config'),
    example: at('example'),
  };
  await mkdir(at('state'), { recursive: true });
  await writeFiles(made.example, EXAMPLE_FILES);
  await makeConfigProject(made.configRepository, made.configClone);
  const url = hookUrl({ listenAddress: '127.0.0.1', port }, CONNECTION);
  await installPostReceiveHook(configRepository, { url, token, project: configProject });
  await writeFile(tenants, tenantsText(tenant, configProject, [...found.paths.keys()]));
  await writeFile(unit, unitText({ command, config: settings, user }));
  const text = settingsText({ stateDirectory: at('state'), repositories, port, token });
  await writeFile(settings, text, { mode: 0o600 });
  return { kind: 'made', ...made, found };
}

async function makeConfigProject(bare: string, clone: string): Promise<void> {
  const git = createGit({ identity: { name: 'Gatehouse', email: 'gatehouse@localhost' } });
  const run = async (cwd: string, ...args: readonly string[]) => {
    const result = await git.run(args, { cwd });
    if (result.kind === 'ok') return;
    const reason = result.kind === 'failed' ? result.stderr.trim() : result.kind;
    throw new Error(`git ${args[0]} in ${cwd} failed: ${reason}`);
  };
  await mkdir(bare, { recursive: true });
  await run(bare, 'init', '--quiet', '--bare', `--initial-branch=${CONFIG_BRANCH}`);
  await writeFiles(clone, CONFIG_PROJECT_FILES);
  await run(clone, 'init', '--quiet', `--initial-branch=${CONFIG_BRANCH}`);
  await run(clone, 'remote', 'add', 'origin', bare);
  await run(clone, 'add', '--all');
  await run(clone, 'commit', '--quiet', '--message', 'Begin with pipelines check and gate');
  await run(clone, 'push', '--quiet', '--set-upstream', 'origin', CONFIG_BRANCH);
}

function nameProblem(what: string, name: string): string | undefined {
  return /^[\w.-]+$/.test(name)
    ? undefined
    : `"${name}" is not the name of a ${what}: use letters, digits, . _ -`;
}

/** Undefined: there is no such directory. */
async function namesIn(directory: string): Promise<readonly string[] | undefined> {
  try {
    return await readdir(directory);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}
