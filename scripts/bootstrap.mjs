/**
 * Runs a command of this project on the Node and the packages it pins, installing them first when they are missing.
 *
 *     node scripts/bootstrap.mjs <command> [arguments...]
 *
 * This is the only file that must run on the system's Node (20 or newer): everything else may rely on the Node that
 * the `node` package brings. An install happens when `node_modules` does not match `package-lock.json` (a stamp of the
 * lock file's hash, written after a successful `npm ci`). Nothing is asked, nothing is installed globally.
 *
 * Packages run no code while they are installed (`--ignore-scripts`, however this npm treats `allowScripts`), but for one: the `node`
 * package fetches the program for this machine in its script, which is run by name.
 */
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { constants } from 'node:os';
import path from 'node:path';

const root = path.resolve(import.meta.dirname, '..');
const binaries = path.join(root, 'node_modules', '.bin');
const stamp = path.join(root, 'node_modules', '.gatehouse-lock');
const lock = createHash('sha256')
  .update(readFileSync(path.join(root, 'package-lock.json')))
  .digest('hex');

const installed = existsSync(stamp) && readFileSync(stamp, 'utf8') === lock;
// After an update `npm run` starts this file on the pinned Node, which `npm ci` removes: installing is work for the system's Node.
const outside = (process.env.PATH ?? '')
  .split(path.delimiter)
  .filter(folder => !path.resolve(folder).startsWith(path.join(root, 'node_modules') + path.sep))
  .join(path.delimiter);
if (!installed) {
  process.stderr.write('Installing the pinned packages (npm ci), once ...\n');
  install('npm ci', 'npm', ['ci', '--ignore-scripts'], root);
  const node = path.join(root, 'node_modules', 'node');
  install('fetching the pinned Node', 'node', ['installArchSpecificPackage.js'], node);
  // npm makes no link to a program that is not there yet.
  rmSync(path.join(binaries, 'node'), { force: true });
  symlinkSync('../node/bin/node', path.join(binaries, 'node'));
  writeFileSync(stamp, lock);
}

/** @param what for people. Ends this process where it fails. */
function install(what, program, args, cwd) {
  const { status, error } = spawnSync(program, args, {
    cwd,
    stdio: ['ignore', 2, 2],
    env: {
      ...process.env,
      PATH: outside,
      npm_config_audit: 'false',
      npm_config_fund: 'false',
      npm_config_loglevel: 'error',
      npm_config_prefer_offline: 'true',
    },
  });
  if (status === 0) return;
  process.stderr.write(
    `${what} failed (${error?.message ?? `exit status ${status}`}); see its output above.\n`,
  );
  process.exit(1);
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
