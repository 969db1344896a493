/**
 * Creates the demo's files below one directory:
 *
 *     repositories/acme/{config,app,api}.git   bare repositories, the code host
 *     developer/<project>                      a developer's clones
 *     etc/gatehouse.conf, etc/tenants.yaml     the operator's configuration
 *     state/                                   the service's state
 *     try/                                     scripts for the newcomer
 */
import { mkdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { installPostReceiveHook } from '../../../drivers/git/install-hook.ts';
import {
  API,
  API_FILES,
  APP,
  APP_FILES,
  CONFIG_FILES,
  CONFIG_PROJECT,
  CONNECTION,
  type DemoFile,
  TENANT,
} from './demo-files.ts';
import { createRepository, writeFiles } from './developer.ts';
import { THINGS_TO_TRY } from './things-to-try.ts';

/** Places of a demo's service, repositories and clones. */
export interface Site {
  /** The settings file. */
  readonly config: string;
  /** Unix socket of the command line. */
  readonly socket: string;
  /** Bare repository by project. */
  readonly repositories: ReadonlyMap<string, string>;
  /** Of the service, without trailing slash. */
  readonly url: string;
  /** The developer's clone of a project. */
  clone(project: string): string;
}

/** What the demo's settings file depends on. */
export interface SiteOptions {
  readonly directory: string;
  /** Of the web; must be free. */
  readonly port: number;
  /** Signs the webhooks of the repositories' hooks. */
  readonly token: string;
  readonly logLevel: 'info' | 'warn';
}

/** Folder of {@link THINGS_TO_TRY} in the demo's directory. */
export const TRY = 'try';

/** The demo's repositories and their initial content. */
export const PROJECTS: readonly (readonly [project: string, files: readonly DemoFile[]])[] = [
  [CONFIG_PROJECT, CONFIG_FILES],
  [APP, APP_FILES],
  [API, API_FILES],
];

/** Removes everything in `directory` first. */
export async function prepareSite(options: SiteOptions): Promise<Site> {
  const { directory } = options;
  await rm(directory, { recursive: true, force: true });
  const repositories = new Map(
    PROJECTS.map(([project]) => [project, path.join(directory, 'repositories', `${project}.git`)]),
  );
  const clone = (project: string) => path.join(directory, 'developer', project);
  const url = `http://127.0.0.1:${options.port}`;
  await Promise.all(
    PROJECTS.map(async ([project, files]) => {
      const bare = repositories.get(project) ?? '';
      await createRepository(bare, clone(project), files);
      await installPostReceiveHook(bare, {
        url: `${url}/api/connection/${CONNECTION}/payload`,
        token: options.token,
        project,
      });
    }),
  );
  await writeFiles(
    path.join(directory, TRY),
    THINGS_TO_TRY.map(({ file }) => file),
  );
  const installed = await writeDemoSettings(options, CONNECTION, [
    'driver = git',
    `baseurl = ${path.join(directory, 'repositories')}`,
    'proposals = for/{branch}/{topic}',
    `webhook_token = ${options.token}`,
    'poll_interval = 60s',
  ]);
  return { ...installed, repositories, url, clone };
}

/** Writes the operator's files below the directory. @param section lines of `[connection <connection>]`. */
export async function writeDemoSettings(
  options: SiteOptions,
  connection: string,
  section: readonly string[],
): Promise<Pick<Site, 'config' | 'socket'>> {
  const { directory } = options;
  const config = path.join(directory, 'etc', 'gatehouse.conf');
  await mkdir(path.dirname(config), { recursive: true });
  const text = [settings(options), `[connection ${connection}]`, ...section, ''].join('\n');
  await writeFile(config, text, { mode: 0o600 });
  await writeFile(path.join(directory, 'etc', 'tenants.yaml'), tenants(connection));
  return { config, socket: path.join(directory, 'state', 'gatehouse.sock') };
}

function settings({ directory, port, logLevel }: SiteOptions): string {
  return `# Written by the quickstart. See etc/gatehouse.conf of the distribution for all options.
[scheduler]
tenant_config = tenants.yaml
state_dir = ${path.join(directory, 'state')}

[web]
port = ${port}

[executor]
# Without bubblewrap the demo's own jobs run unisolated; never allow this for other people's jobs.
allow_unsandboxed = true
# The demo's jobs mostly sleep.
max_builds = 8

[log]
level = ${logLevel}
format = pretty
`;
}

function tenants(connection: string): string {
  return `- tenant:
    name: ${TENANT}
    source:
      ${connection}:
        config-projects:
          - ${CONFIG_PROJECT}
        untrusted-projects:
          - ${APP}
          - ${API}
`;
}
