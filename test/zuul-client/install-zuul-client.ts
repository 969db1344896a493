/**
 * Zuul's own client, from the package index, in a virtual environment below the user's cache, where it is found the next time.
 *
 *     npm run test:zuul-client            needs python3 with venv, and once the package index
 */
import { execFile } from 'node:child_process';
import { access } from 'node:fs/promises';
import { homedir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';

const VERSION = '14.0.0';
const run = promisify(execFile);
const cache = process.env.XDG_CACHE_HOME ?? path.join(homedir(), '.cache');
const place = path.join(cache, 'gatehouse-tests', `zuul-client-${VERSION}`);

/** The program, once `setup` has run. */
export const ZUUL_CLIENT = path.join(place, 'bin', 'zuul-client');

/** Called by Vitest before anything else of a run. @throws Error when it cannot be had: nothing is skipped. */
export async function setup(): Promise<void> {
  if (await isThere(ZUUL_CLIENT)) return;
  await run('python3', ['-m', 'venv', '--clear', place]);
  const pip = path.join(place, 'bin', 'pip');
  await run(pip, ['install', '--quiet', '--disable-pip-version-check', `zuul-client==${VERSION}`]);
}

async function isThere(file: string): Promise<boolean> {
  return access(file).then(
    () => true,
    () => false,
  );
}
