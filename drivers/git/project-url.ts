/**
 * Where project `acme/app` of a connection is:
 *
 *     baseurl = /srv/git                               /srv/git/acme/app, or /srv/git/acme/app.git if that is what exists
 *     baseurl = ssh://git@git.example.org              ssh://git@git.example.org/acme/app  (git finds app.git by itself)
 *     baseurl = https://git.example.org                https://git.example.org/acme/app
 *     baseurl = https://git.example.org/{project}.git  https://git.example.org/acme/app.git, for servers that insist
 */
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { remoteUrlProblem } from '../../src/git/process/remote.ts';

const PLACEHOLDER = '{project}';

/** Why this cannot be a `baseurl`, or undefined. The text never repeats the URL: it may hold a password. */
export function baseUrlProblem(baseurl: string): string | undefined {
  const problem = remoteUrlProblem(baseurl);
  if (problem !== undefined) return problem;
  if (/^[a-z][a-z0-9+.-]*:\/\/[^/@]*:[^/@]*@/i.test(baseurl)) {
    return 'holds a password; process lists and logs would show it. Use http_user and http_password, or ssh_key';
  }
  return undefined;
}

/** Why this is no project name, or undefined. */
export function projectNameProblem(name: string): string | undefined {
  if (name.length > 300) return 'is longer than 300 characters';
  if (!/^[\w.+~-]+(\/[\w.+~-]+)*$/.test(name))
    return 'is not words of letters, digits and . _ + ~ - between slashes';
  if (name.split('/').some(part => /^[.-]/.test(part))) return 'has a part that begins with a dot or a dash';
  return undefined;
}

/** @throws RangeError when `name` is not a project name. */
export function projectUrl(baseurl: string, name: string): string {
  const problem = projectNameProblem(name);
  if (problem !== undefined)
    throw new RangeError(`project name ${JSON.stringify(name.slice(0, 100))} ${problem}`);
  if (baseurl.includes(PLACEHOLDER)) return baseurl.replaceAll(PLACEHOLDER, name);
  const plain = `${baseurl.replace(/\/+$/, '')}/${name}`;
  const directory = plain.startsWith('/')
    ? plain
    : plain.startsWith('file://')
      ? fileURLToPath(plain)
      : undefined;
  const onlyBare = directory !== undefined && !existsSync(directory) && existsSync(`${directory}.git`);
  return onlyBare ? `${plain}.git` : plain;
}
