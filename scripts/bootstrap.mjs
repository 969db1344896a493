/**
 * Runs a command of this project on the Node and the packages it pins, installing them first when they are missing.
 *
 *     node scripts/bootstrap.mjs <command> [arguments...]
 *
 * This is the only file that must run on the system's Node (20 or newer): everything else may rely on the Node that
 * the `node` package brings. An install happens when `node_modules` does not match `package-lock.json` (a stamp of the
 * lock file's hash, written after a successful `npm ci`; without it the packages are compared, for `npm ci` may have been done by hand). npm
 * takes from its cache what is there. Nothing is asked, nothing is installed globally.
 *
 * Packages run no code while they are installed (`--ignore-scripts`, however this npm treats `allowScripts`), but for one: the `node`
 * package fetches the program for this machine in its script, which is run by name.
 */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { constants } from 'node:os';
import path from 'node:path';

const root = path.resolve(import.meta.dirname, '..');
const binaries = path.join(root, 'node_modules', '.bin');
const stamp = path.join(root, 'node_modules', '.gatehouse-lock');
const lockText = readFileSync(path.join(root, 'package-lock.json'), 'utf8');
const lock = createHash('sha256').update(lockText).digest('hex');
/** By folder; of the lock file's packages those that every machine gets. */
const pinned = Object.entries(JSON.parse(lockText).packages).filter(
  ([folder, { optional, devOptional }]) => folder !== '' && !optional && !devOptional,
);

const installed = existsSync(stamp) && readFileSync(stamp, 'utf8') === lock;
// After an update `npm run` starts this file on the pinned Node, which `npm ci` removes: installing is work for the system's Node.
const outside = (process.env.PATH ?? '')
  .split(path.delimiter)
  .filter(folder => !path.resolve(folder).startsWith(path.join(root, 'node_modules') + path.sep))
  .join(path.delimiter);
if (!installed) {
  const node = path.join(root, 'node_modules', 'node');
  const byHand = isComplete();
  if (!byHand) {
    process.stderr.write(`Installing the pinned packages (npm ci), once: ${pinned.length} of them ...\n`);
    await install('npm ci', 'npm', ['ci', '--ignore-scripts'], root);
  }
  if (!existsSync(path.join(node, 'bin', 'node'))) {
    process.stderr.write('Fetching the pinned Node, once ...\n');
    await install('fetching the pinned Node', 'node', ['installArchSpecificPackage.js'], node);
  }
  // npm makes no link to a program that is not there yet.
  rmSync(path.join(binaries, 'node'), { force: true });
  symlinkSync('../node/bin/node', path.join(binaries, 'node'));
  writeFileSync(stamp, lock);
  if (!byHand) process.stderr.write('Installed.\n');
}

/** Whether npm has installed these very packages: its list, which it writes last, and what is there. A change of the lock file alone changes the list, too. */
function isComplete() {
  const list = path.join(root, 'node_modules', '.package-lock.json');
  if (!existsSync(list)) return false;
  const { packages } = JSON.parse(readFileSync(list, 'utf8'));
  return pinned.every(
    ([folder, { version }]) =>
      packages[folder]?.version === version && versionIn(path.join(root, folder)) === version,
  );
}

function versionIn(folder) {
  const file = path.join(folder, 'package.json');
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')).version : undefined;
}

/** @param what for people. Says every ten seconds that it goes on. Ends this process where it fails. */
async function install(what, program, args, cwd) {
  const began = performance.now();
  const child = spawn(program, args, {
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
  const reporting = setInterval(() => {
    const seconds = Math.round((performance.now() - began) / 1000);
    const there = pinned.filter(([folder]) => existsSync(path.join(root, folder, 'package.json'))).length;
    process.stderr.write(`  ${seconds} s, ${there} of ${pinned.length} packages are in place\n`);
  }, 10_000);
  const failure = await new Promise(resolve => {
    child.once('error', error => resolve(error.message));
    child.once('exit', (code, signal) => resolve(code === 0 ? undefined : (signal ?? `exit status ${code}`)));
  });
  clearInterval(reporting);
  if (failure === undefined) return;
  process.stderr.write(`${what} failed (${failure}); see its output above.\n`);
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
