/**
 * Debian hosts that roles may change as they like: each a real sshd in a copy of this machine's files, which is memory and goes with it, with
 * processes and mounts of its own. The network is this machine's, without the right to change it. There is a user `zuul` with sudo, as on the
 * nodes of sites. Needs root, and a kernel that lets it mount an overlay.
 *
 *     this machine's files  ←  what all hosts have more (made once)  ←  what roles change on one
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { inParallel } from '../../../src/lib/parallel.ts';
import { keyPair, startSshHost } from '../../fake/ssh-host.ts';

export interface ThrowawayHost {
  readonly name: string;
  /** On the loopback. */
  readonly port: number;
  readonly hostKey: string;
  readonly user: string;
}

export interface ThrowawayHosts extends AsyncDisposable {
  readonly hosts: readonly ThrowawayHost[];
  /** File with the private key that all let in. */
  readonly key: string;
}

const USER = 'zuul';
const STARTED_AT_ONCE = 4;
const DEADLINE_MS = 60_000;

/** @param program sshd. @throws Error with the reason: what the machine does not let us do. */
export async function startThrowawayHosts(program: string, count: number): Promise<ThrowawayHosts> {
  await using opening = new AsyncDisposableStack();
  const directory = await mkdtemp(path.join(tmpdir(), 'gatehouse-hosts-'));
  opening.defer(() => rm(directory, { recursive: true }));
  const pair = keyPair();
  const key = path.join(directory, 'key');
  await writeFile(key, pair.private, { mode: 0o600 });
  const memory = path.join(directory, 'memory');
  const holder = opening.use(await prepareFiles(memory));
  const names = Array.from({ length: count }, (_, index) => `host-${index}`);
  const hosts = await inParallel(names, STARTED_AT_ONCE, async name => {
    const starter = path.join(directory, name);
    await writeFile(starter, starterText(holder.pid, path.join(memory, name), program));
    await chmod(starter, 0o755);
    const { port, hostKey } = opening.use(await startSshHost(starter, pair.public, DEADLINE_MS));
    return { name, port, hostKey, user: USER };
  });
  const lifetime = opening.move();
  return { hosts, key, [Symbol.asyncDispose]: () => lifetime.disposeAsync() };
}

/** What all hosts have, in memory that only processes of its namespace see. */
async function prepareFiles(memory: string): Promise<AsyncDisposable & { readonly pid: number }> {
  const child = spawn('unshare', ['--mount', 'sh', '-c', prepareText(memory)], {
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  const said = text(child.stderr);
  const [first] = await Promise.race([once(child.stdout, 'data'), once(child, 'exit').then(() => [''])]);
  if (!String(first).includes('prepared')) throw new Error(`no files for hosts: ${await said}`);
  return {
    pid: child.pid ?? 0,
    async [Symbol.asyncDispose]() {
      const ended = child.exitCode === null ? once(child, 'exit') : undefined;
      child.stdin.end();
      await ended;
    },
  };
}

/** Ends with its input. What it cannot install hosts lack, and roles that need it say so. */
function prepareText(memory: string): string {
  return `set -eu
mkdir ${memory}
mount -t tmpfs tmpfs ${memory}
mkdir ${memory}/common ${memory}/work ${memory}/root
mount -t overlay overlay -o lowerdir=/,upperdir=${memory}/common,workdir=${memory}/work ${memory}/root
cd ${memory}/root
mount -t proc proc proc
mount --rbind /dev dev
mount -t tmpfs tmpfs run
cp -L --remove-destination /etc/resolv.conf /etc/hosts etc/ 2>/dev/null || true
chroot . sh -c 'useradd -m -s /bin/bash ${USER} && usermod -p "*" ${USER}; { apt-get update && apt-get install -y sudo rsync; } >/dev/null 2>&1; if [ -d /etc/sudoers.d ]; then echo "${USER} ALL=(ALL) NOPASSWD: ALL" > /etc/sudoers.d/${USER}; fi'
cd /
umount -l ${memory}/root
echo prepared
exec cat
`;
}

/** Takes the arguments of sshd. @param holder process of the prepared files. @param own folder in their memory. */
function starterText(holder: number, own: string, program: string): string {
  const inside = `set -eu
mkdir ${own} ${own}/upper ${own}/work ${own}/root
mount -t overlay overlay -o lowerdir=${path.dirname(own)}/common:/,upperdir=${own}/upper,workdir=${own}/work ${own}/root
cd ${own}/root
mkdir -p ./$CONFIG && cp -a $CONFIG/. ./$CONFIG && chmod 755 ./$CONFIG && chmod 644 ./$CONFIG/authorized
mount -t proc proc proc
mount --rbind /dev dev
mount -t tmpfs tmpfs run
mkdir run/sshd
exec setpriv --bounding-set -net_admin,-sys_module,-sys_time,-sys_boot,-sys_rawio,-syslog chroot . ${program} "$@"
`;
  return `#!/bin/sh
for each do last=$each; done
CONFIG=$(dirname "$last"); export CONFIG
exec setpriv --pdeathsig SIGKILL nsenter --mount=/proc/${holder}/ns/mnt unshare --mount --pid --fork --kill-child sh -c '${inside.replaceAll("'", "'\\''")}' sshd "$@"
`;
}
