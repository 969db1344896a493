/**
 * What a job needs for ssh to its hosts, where it can only read:
 *
 *     <info>/ssh/config            for scripts: `ssh -F "$GATEHOUSE_SSH_CONFIG" <node>`
 *     <info>/ssh/<host>.conf       for Ansible, which names the host by its address
 *     <info>/ssh/known_hosts       the pinned keys, under the names of the hosts
 *     <info>/ssh/<host>.sock       the way there (host-sockets.ts); ways/<address>:<port> is a link to it
 *     <info>/ssh/by-address        the configuration that ssh itself reads in the sandbox, for programs that know nothing of the others, such
 *                                  as rsync and git: hosts by address and port
 *
 * The private key is in none of them: the build's agent signs with it.
 */
import { copyFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ownFile } from '../../lib/own-file.ts';
import type { Variables } from '../../model/job.ts';
import { BUILD_MARK, hostPlace } from '../../nodes/host-places.ts';
import { makeDirectory } from '../build-places.ts';
import { AGENT_SOCKET } from '../ssh-agent/build-agent.ts';
import { socketName } from './host-sockets.ts';
import type { ReachedHost } from './node-provider.ts';

const FOLDER = 'ssh';
const CONNECT = 'connect.py';
const BY_ADDRESS = 'by-address';
const WAYS = 'ways';

/** Below `info`: of the job, and on the host of the executor. */
export function sshFolder(info: string): string {
  return join(info, FOLDER);
}

/** For the environment of scripts, as the job sees it. */
export function sshConfigPath(info: string): string {
  return join(sshFolder(info), 'config');
}

/** Which ssh reads in the sandbox unless it is given another one. On the host of the executor. */
export function systemSshConfig(info: string): string {
  return join(sshFolder(info), BY_ADDRESS);
}

/** @param info on the host of the executor. @param seen the same as the job sees it. */
export async function placeSshFiles(
  info: string,
  seen: string,
  build: string,
  hosts: readonly ReachedHost[],
): Promise<void> {
  const folder = sshFolder(info);
  makeDirectory(folder, 0o755, null);
  const nodes = hosts.map(
    each =>
      `Host ${each.node}\n  HostName ${each.host.address}\n  Port ${each.host.port}\n  User ${each.host.username}\n${optionsOf(each, seen, build)}`,
  );
  const known = hosts.flatMap(({ host }) =>
    host.hostKeys.map(key => `${host.name},${knownAs(host)} ${key}\n`),
  );
  const ways = new Map(hosts.map(({ host }) => [`${host.address}:${host.port}`, socketName(host)] as const));
  makeDirectory(join(folder, WAYS), 0o755, null);
  await Promise.all([
    copyFile(join(ownFile('src/executor/hosts'), CONNECT), join(folder, CONNECT)),
    writeFile(join(folder, 'config'), nodes.join('\n')),
    writeFile(join(folder, 'known_hosts'), known.join('')),
    writeFile(join(folder, BY_ADDRESS), byAddress(hosts, seen, build)),
    ...[...ways].map(([way, socket]) => symlink(`../${socket}`, join(folder, WAYS, way))),
    ...hosts.map(each =>
      writeFile(join(folder, `${each.host.name}.conf`), `Host *\n${optionsOf(each, seen, build)}`),
    ),
  ]);
}

function optionsOf({ host }: ReachedHost, seen: string, build: string): string {
  const alias = `  HostKeyAlias ${host.name}\n`;
  return alias + commonOptions(seen, build, socketName(host));
}

function knownAs({ address, port }: ReachedHost['host']): string {
  return port === 22 ? address : `[${address}]:${port}`;
}

/** A port that is none of the hosts' is reached as it would be without this file. */
function byAddress(hosts: readonly ReachedHost[], seen: string, build: string): string {
  const addresses = [...new Set(hosts.map(({ host }) => host.address))];
  const ways = `${sshFolder(seen)}/${WAYS}`;
  return `Match host ${addresses.join(',')} exec "test -e ${ways}/%h:%p"\n${commonOptions(seen, build, `${WAYS}/%h:%p`)}`;
}

/** @param socket below the folder. */
function commonOptions(seen: string, build: string, socket: string): string {
  const folder = sshFolder(seen);
  const options = [
    `UserKnownHostsFile ${folder}/known_hosts`,
    'GlobalKnownHostsFile /dev/null',
    'StrictHostKeyChecking yes',
    'UpdateHostKeys no',
    `IdentityAgent ${seen}/${AGENT_SOCKET}`,
    'PreferredAuthentications publickey',
    `ProxyCommand python3 ${folder}/${CONNECT} ${folder}/${socket}`,
    `SetEnv ${BUILD_MARK}=${build}`,
  ];
  return options.map(option => `  ${option}\n`).join('');
}

/** Variables of the connection, of each node by its name, for the inventory and for scripts. @param seen as above. */
export function connectionVariables(
  seen: string,
  build: string,
  hosts: readonly ReachedHost[],
): ReadonlyMap<string, Variables> {
  return new Map(
    hosts.map(({ node, host, walls }) => [
      node,
      {
        ansible_connection: 'ssh',
        ansible_host: host.address,
        ansible_port: host.port,
        ansible_user: host.username,
        ansible_python_interpreter: host.pythonPath ?? 'auto_silent',
        ...host.variables,
        // Walls: no variable of the file changes them.
        ansible_host_key_checking: true,
        ansible_ssh_common_args: `-F ${sshFolder(seen)}/${host.name}.conf`,
        ansible_remote_tmp: `~/${hostPlace(build)}/tmp`,
        ...walls,
      },
    ]),
  );
}
