import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import type { GerritOfTests } from './start-gerrit.ts';

/** `[connection]` of our account, as an operator writes it. @param folder for the host key, as ssh-keyscan gives it. */
export async function connectionLines(
  { ssh, url, ci }: Pick<GerritOfTests, 'ssh' | 'url' | 'ci'>,
  folder: string,
): Promise<readonly string[]> {
  const knownHosts = path.join(folder, 'known_hosts');
  const { stdout } = await promisify(execFile)('ssh-keyscan', ['-p', String(ssh.port), ssh.host]);
  await writeFile(knownHosts, stdout);
  return [
    'driver = gerrit',
    `server = ${ssh.host}`,
    `baseurl = ${url}`,
    `user = ${ci.username}`,
    `password = ${ci.password}`,
    `port = ${ssh.port}`,
    `sshkey = ${ci.keyFile}`,
    `ssh_known_hosts = ${knownHosts}`,
  ];
}
