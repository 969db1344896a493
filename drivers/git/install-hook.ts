/**
 * Installs `post-receive.sh` in a repository of this machine, so that pushes to it reach the gate immediately.
 *
 *     await installPostReceiveHook('/srv/git/acme/app.git', { url: 'http://127.0.0.1:9000/api/connection/local/payload', token, project: 'acme/app' });
 *
 * The settings go into a file of their own (`gatehouse.config`, readable by its owner only) that the repository's
 * configuration includes: the token is on no command line. Pushes must run as that owner, as is usual over ssh.
 */

import { createHmac } from 'node:crypto';
import { chmod, mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createGit } from '../../src/git/process/git.ts';
import { ownFile } from '../../src/lib/own-file.ts';
import { Secret } from '../../src/lib/secret.ts';
import { projectNameProblem } from './project-url.ts';

/** What `post-receive.sh` has to know. */
export interface HookSettings {
  /** `<root>/api/connection/<name>/payload`. */
  readonly url: string;
  /** The connection's `webhook_token`. */
  readonly token: string | Secret;
  /** Name of the project on its connection, e.g. `acme/app`. */
  readonly project: string;
}

/** `path` is that of the repository's `post-receive`. */
export type HookInstallation =
  /** `changed` is false where hook and settings were like this already. */
  | { readonly kind: 'installed'; readonly path: string; readonly changed: boolean }
  /** Another hook is there and was kept; ours is `script`, which that one has to call unless it does (`called`). */
  | { readonly kind: 'beside'; readonly path: string; readonly script: string; readonly called: boolean };

const SCRIPT = ownFile('drivers/git/post-receive.sh');
const MARK = '# Installed by Gatehouse';
const SETTINGS = 'gatehouse.config';
/** Our script, where `post-receive` is another hook. */
const BESIDE = 'gatehouse-post-receive';

/**
 * May be repeated, with other settings too.
 *
 * @param repositoryPath a bare repository, or the directory that holds `.git`.
 * @throws RangeError when a setting cannot be written down; Error when there is no repository.
 */
export async function installPostReceiveHook(
  repositoryPath: string,
  settings: HookSettings,
): Promise<HookInstallation> {
  const text = settingsFile(settings);
  const gitDir = await gitDirectory(repositoryPath);
  const hooks = join(gitDir, 'hooks');
  const path = join(hooks, 'post-receive');
  const present = await textOf(path);
  const isOurs = present === undefined || present.includes(MARK);
  const target = isOurs ? path : join(hooks, BESIDE);
  const script = await readFile(SCRIPT, 'utf8');
  const settingsPath = join(gitDir, SETTINGS);
  const changed = (await textOf(settingsPath)) !== text || (await textOf(target)) !== script;
  // Written also where nothing changes: the modes may be wrong.
  await writeFile(settingsPath, text, { mode: 0o600 });
  await chmod(settingsPath, 0o600);
  await includeSettings(gitDir);
  await mkdir(hooks, { recursive: true });
  await writeFile(target, script);
  await chmod(target, 0o755);
  if (isOurs) return { kind: 'installed', path, changed };
  return { kind: 'beside', path, script: target, called: present.includes(BESIDE) };
}

function settingsFile({ url, token, project }: HookSettings): string {
  if (!/^https?:\/\/[^\s"\\]+$/.test(url))
    throw new RangeError('the URL of a hook must begin with http:// or https://');
  const problem = projectNameProblem(project);
  if (problem !== undefined) throw new RangeError(`project name ${JSON.stringify(project)} ${problem}`);
  const secret = token instanceof Secret ? token.reveal() : token;
  if (!/^[ -~]+$/.test(secret)) throw new RangeError('the token of a hook must be printable ASCII');
  const quoted = (value: string) => `"${value.replaceAll(/["\\]/g, '\\$&')}"`;
  // Of every notification that the script sends.
  const signature = createHmac('sha256', secret).update(JSON.stringify({ project })).digest('hex');
  const lines = Object.entries({ url, project, token: secret, signature: `sha256=${signature}` });
  return `[gatehouse]\n${lines.map(([name, value]) => `\t${name} = ${quoted(value)}\n`).join('')}`;
}

async function gitDirectory(path: string): Promise<string> {
  for (const candidate of [join(path, '.git'), path]) {
    if (await exists(join(candidate, 'HEAD'))) return candidate;
  }
  throw new Error(`${path} is not a git repository`);
}

async function includeSettings(gitDir: string): Promise<void> {
  const git = createGit({ identity: { name: 'Gatehouse', email: 'gatehouse@localhost' } });
  // Replaces our own line only, or adds it.
  const result = await git.run([
    'config',
    '--file',
    join(gitDir, 'config'),
    '--replace-all',
    'include.path',
    SETTINGS,
    '^gatehouse\\.config$',
  ]);
  if (result.kind !== 'ok') throw new Error(`cannot change the configuration of ${gitDir}: ${result.kind}`);
}

async function textOf(path: string): Promise<string | undefined> {
  return (await exists(path)) ? readFile(path, 'utf8') : undefined;
}

async function exists(path: string): Promise<boolean> {
  try {
    await stat(path);
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return false;
    throw error;
  }
}
