/**
 * A Debian host that roles may change as they like: a real sshd in a copy of this machine's files, which is memory and goes with it, with
 * processes and mounts of its own. The network is this machine's, without the right to change it. There is a user `zuul` with sudo, as on the
 * nodes of sites. Needs root, and a kernel that lets it mount an overlay.
 */
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { HostLease } from '../../../src/executor/hosts/reach-hosts.ts';
import { systemClock } from '../../../src/lib/clock.ts';
import type { StaticHost } from '../../../src/model/static-host.ts';
import { keyPair, startSshHost } from '../../fake/ssh-host.ts';

export interface ThrowawayHost extends AsyncDisposable {
  /** For a build whose one node has this name. */
  lease(node: string): Omit<HostLease, 'handBack'>;
}

const USER = 'zuul';
/** It installs packages. */
const PREPARING_MS = 300_000;

/** @param program sshd. @throws Error with the reason: what the machine does not let us do. */
export async function startThrowawayHost(program: string): Promise<ThrowawayHost> {
  await using opening = new AsyncDisposableStack();
  const directory = await mkdtemp(path.join(tmpdir(), 'gatehouse-host-'));
  opening.defer(() => rm(directory, { recursive: true }));
  const key = keyPair();
  const file = path.join(directory, 'key');
  const starter = path.join(directory, 'sshd');
  await writeFile(file, key.private, { mode: 0o600 });
  await writeFile(starter, scriptOf(program, directory));
  await chmod(starter, 0o755);
  const { port, hostKey } = opening.use(await startSshHost(starter, key.public, PREPARING_MS));
  const host: StaticHost = {
    ...{ name: 'throwaway', address: '127.0.0.1', port, username: USER, privateKey: file },
    ...{ hostKeys: [hostKey], maxParallelJobs: 1, labels: [] },
  };
  const lifetime = opening.move();
  return {
    lease: node => ({
      grant: { at: systemClock().now(), hosts: [{ node, host: host.name }] },
      definitions: async () => new Map([[host.name, host]]),
    }),
    [Symbol.asyncDispose]: () => lifetime.disposeAsync(),
  };
}

/** Takes the arguments of sshd. What it cannot install it lacks, and roles that need it say so. */
function scriptOf(program: string, directory: string): string {
  const inside = `set -eu
mount -t tmpfs tmpfs ${directory}
mkdir ${directory}/upper ${directory}/work ${directory}/root
mount -t overlay overlay -o lowerdir=/,upperdir=${directory}/upper,workdir=${directory}/work ${directory}/root
cd ${directory}/root
mkdir -p ./$CONFIG && cp -a $CONFIG/. ./$CONFIG && chmod 755 ./$CONFIG && chmod 644 ./$CONFIG/authorized
mount -t proc proc proc
mount --rbind /dev dev
mount -t tmpfs tmpfs run
mkdir run/sshd
cp -L /etc/resolv.conf /etc/hosts etc/ 2>/dev/null || true
chroot . sh -c 'useradd -m -s /bin/bash ${USER} && usermod -p "*" ${USER}; apt-get install -y sudo rsync >/dev/null 2>&1 || { apt-get update && apt-get install -y sudo rsync; } >/dev/null 2>&1; if [ -d /etc/sudoers.d ]; then echo "${USER} ALL=(ALL) NOPASSWD: ALL" > /etc/sudoers.d/${USER}; fi'
exec setpriv --bounding-set -net_admin,-sys_module,-sys_time,-sys_boot,-sys_rawio,-syslog chroot . ${program} "$@"
`;
  return `#!/bin/sh
for each do last=$each; done
CONFIG=$(dirname "$last"); export CONFIG
exec setpriv --pdeathsig SIGKILL unshare --mount --pid --fork --kill-child sh -c '${inside.replaceAll("'", "'\\''")}' sshd "$@"
`;
}
