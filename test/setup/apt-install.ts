/** Debian packages for tests that want them. Needs root and apt-get. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';

const LOCK = '/var/lock/gatehouse-test-packages';
const TIME_LIMIT_MS = 300_000;

/** One at a time on a machine; who waited finds the work done. Package lists may be missing or stale: then once more. */
const SCRIPT = `
install() { apt-get install -y --no-install-recommends -o DPkg::Lock::Timeout=120 "$@"; }
# Slim images lack it, and Java's configuration fails without.
mkdir -p /usr/share/man/man1
install "$@" || { apt-get update && install "$@"; }
`;

/**
 * apt-get's output goes to our standard error.
 *
 * @param why what was looked for in vain, for people.
 * @returns what went wrong; undefined: they should be there now.
 */
export async function aptInstall(packages: readonly string[], why: string): Promise<string | undefined> {
  if (process.getuid?.() !== 0) return 'not root, so not installed';
  process.stderr.write(`Installing ${packages.join(' ')} for the tests: ${why} ...\n`);
  const child = spawn('flock', ['--wait', '300', LOCK, 'sh', '-c', SCRIPT, 'install', ...packages], {
    stdio: ['ignore', 2, 2],
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    timeout: TIME_LIMIT_MS,
  });
  try {
    const [status, signal] = await once(child, 'exit');
    if (status === 0) return undefined;
    const end = signal === null ? `exit status ${status}` : `not done within ${TIME_LIMIT_MS / 1000} s`;
    return `apt-get install: ${end}`;
  } catch (error) {
    // No flock on this machine.
    return `apt-get install: ${error instanceof Error ? error.message : String(error)}`;
  }
}
