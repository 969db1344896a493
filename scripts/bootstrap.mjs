/**
 * Runs a command of this project on the Node and the packages it pins, installing them first when they are missing.
 *
 *     node scripts/bootstrap.mjs <command> [arguments...]
 *
 * This is the only file that must run on the system's Node (20 or newer): everything else may rely on the Node that
 * the `node` package brings. An install happens when `node_modules` does not match `package-lock.json` (a stamp of the
 * lock file's hash, written after a successful `npm ci`). Nothing is asked, nothing is installed globally.
 */
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { constants } from 'node:os';
import path from 'node:path';

const root = path.resolve(import.meta.dirname, '..');
const binaries = path.join(root, 'node_modules', '.bin');
const stamp = path.join(root, 'node_modules', '.gatehouse-lock');
const lock = createHash('sha256')
  .update(readFileSync(path.join(root, 'package-lock.json')))
  .digest('hex');

const installed = existsSync(stamp) && readFileSync(stamp, 'utf8') === lock;
if (!installed) {
  process.stderr.write('Installing the pinned packages (npm ci), once ...\n');
  const npm = spawnSync('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error'], {
    cwd: root,
    stdio: ['ignore', 2, 2],
  });
  if (npm.status !== 0) {
    process.stderr.write(
      `npm ci failed (${npm.error?.message ?? `exit status ${npm.status}`}); see its output above.\n`,
    );
    process.exit(1);
  }
  writeFileSync(stamp, lock);
}

const [command, ...args] = process.argv.slice(2);
if (command === undefined) {
  process.stderr.write('usage: node scripts/bootstrap.mjs <command> [arguments...]\n');
  process.exit(2);
}
const child = spawn(path.join(binaries, command), args, {
  cwd: process.cwd(),
  stdio: 'inherit',
  env: { ...process.env, PATH: `${binaries}${path.delimiter}${process.env.PATH ?? ''}` },
});
child.on('error', error => {
  process.stderr.write(`cannot run ${command}: ${error.message}\n`);
  process.exit(1);
});
// The terminal sends its signals to the whole group; a supervisor sends them to us alone, so pass them on.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
child.on('exit', (code, signal) =>
  process.exit(signal ? 128 + (constants.signals[signal] ?? 0) : (code ?? 1)),
);
