/** A machine that jobs reach over ssh: a real sshd on a loopback port, with keys of its own. Debian's; needs root. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import ssh2 from 'ssh2';

export interface SshHost extends AsyncDisposable {
  readonly port: number;
  /** As ssh-keyscan shows it. */
  readonly hostKey: string;
  /** Ends it with every connection, as a machine that loses its power. */
  crash(): Promise<void>;
  /** Starts it again on the same port. */
  boot(): Promise<void>;
}

/** ssh2 drops the zero that one in 256 public keys begins with, and neither it nor OpenSSH reads such a pair. */
export function keyPair(): { readonly private: string; readonly public: string } {
  for (;;) {
    const pair = ssh2.utils.generateKeyPairSync('ed25519');
    if (!(ssh2.utils.parseKey(pair.private) instanceof Error)) return pair;
  }
}

/** @param allowed public key that may log in, as root. @param deadlineMs until it has to answer. */
export async function startSshHost(program: string, allowed: string, deadlineMs = 30_000): Promise<SshHost> {
  const directory = await mkdtemp(path.join(tmpdir(), 'gatehouse-sshd-'));
  const port = await freePort();
  const key = keyPair();
  await writeFile(path.join(directory, 'host_key'), key.private, { mode: 0o600 });
  await writeFile(path.join(directory, 'authorized'), `${allowed}\n`, { mode: 0o600 });
  await writeFile(path.join(directory, 'config'), configText(directory, port));
  // Where Debian's sshd drops its privileges to.
  mkdirSync('/run/sshd', { recursive: true });
  let child = await boot(program, directory, port, deadlineMs);
  const crash = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    for (const pid of descendants(child.pid ?? 0)) end(pid);
    child.kill('SIGKILL');
    await ended;
  };
  return {
    port,
    hostKey: key.public,
    crash,
    async boot() {
      child = await boot(program, directory, port, deadlineMs);
    },
    async [Symbol.asyncDispose]() {
      await crash();
      await rm(directory, { recursive: true });
    },
  };
}

async function boot(program: string, directory: string, port: number, deadlineMs: number) {
  const child = spawn(program, ['-D', '-e', '-f', path.join(directory, 'config')], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let said = '';
  child.stderr.setEncoding('utf8').on('data', piece => {
    said = (said + String(piece)).slice(-4000);
  });
  const until = performance.now() + deadlineMs;
  while (!(await isUp(port))) {
    if (child.exitCode !== null || performance.now() > until) throw new Error(`sshd: ${said}`);
    await new Promise(resolve => setTimeout(resolve, 20));
  }
  return child;
}

/** The servers of single connections leave the group of the first process. */
function descendants(pid: number): readonly number[] {
  try {
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8')
      .split(' ')
      .filter(Boolean)
      .map(Number);
    return children.flatMap(child => [...descendants(child), child]);
  } catch {
    return []; // it has ended
  }
}

function end(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has ended.
  }
}

async function isUp(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}

function configText(directory: string, port: number): string {
  return `ListenAddress 127.0.0.1
Port ${port}
HostKey ${directory}/host_key
PidFile none
AuthorizedKeysFile ${directory}/authorized
StrictModes no
UsePAM no
PermitRootLogin yes
PasswordAuthentication no
AcceptEnv LC_*
Subsystem sftp internal-sftp
`;
}
