/**
 * Fetches Debian's ZooKeeper packages, for a run on a machine that has none. Needs root and apt-get.
 *
 * Not the package `zookeeper` itself: the server's classes are in `libzookeeper-java`, while `zookeeper` asks for a Java with
 * a graphical interface and its eighty packages.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { findServer, type ServerSearch } from './find-server.ts';

const PACKAGES = 'libzookeeper-java libnetty-java libslf4j-java default-jre-headless';

/** One at a time on a machine; who waited finds the work done. Package lists may be missing or stale: then once more. */
const SCRIPT = `
install() { apt-get install -y --no-install-recommends -o DPkg::Lock::Timeout=120 ${PACKAGES}; }
# Slim images lack it, and Java's configuration fails without.
mkdir -p /usr/share/man/man1
install || { apt-get update && install; }
`;
const LOCK = '/var/lock/gatehouse-test-zookeeper';
const TIME_LIMIT_MS = 300_000;

/** @returns what is there afterwards. apt-get's output goes to our standard error. */
export async function findOrInstallServer(env = process.env): Promise<ServerSearch> {
  const first = findServer(env);
  if (first.kind === 'found' || !first.installable) return first;
  if (process.getuid?.() !== 0) return { ...first, reason: `${first.reason}; not root, so not installed` };
  process.stderr.write(`Installing a ZooKeeper server for the tests (${PACKAGES}): ${first.reason} ...\n`);
  const failure = await run();
  const second = findServer(env);
  if (second.kind === 'found') return second;
  return { ...second, reason: `${second.reason}; apt-get install: ${failure ?? 'did not bring it'}` };
}

/** @returns what went wrong. */
async function run(): Promise<string | undefined> {
  const child = spawn('flock', ['--wait', '300', LOCK, 'sh', '-c', SCRIPT], {
    stdio: ['ignore', 2, 2],
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    timeout: TIME_LIMIT_MS,
  });
  try {
    const [status, signal] = await once(child, 'exit');
    if (status === 0) return undefined;
    return signal === null ? `exit status ${status}` : `not done within ${TIME_LIMIT_MS / 1000} s`;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
