/**
 * Zuul's built dashboard, from the package index, below the user's cache, where it is found the next time. Only the page is unpacked: nothing
 * of Zuul is installed or run.
 *
 *     npm run test:zuul-page            needs python3 with pip, and once the package index
 */
import { execFile } from 'node:child_process';
import { access, mkdir, mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';

const VERSION = '14.3.0';
const run = promisify(execFile);
const cache = process.env.XDG_CACHE_HOME ?? path.join(homedir(), '.cache');
const place = path.join(cache, 'gatehouse-tests', `zuul-${VERSION}`);

/** The folder with its `index.html`, once `setup` has run. */
export const ZUUL_PAGE = path.join(place, 'zuul', 'web', 'static');

/** Called by Vitest before anything else of a run. @throws Error when it cannot be had: nothing is skipped. */
export async function setup(): Promise<void> {
  if (await isThere(path.join(ZUUL_PAGE, 'index.html'))) return;
  await mkdir(path.dirname(place), { recursive: true });
  const draft = await mkdtemp(`${place}.`);
  const pip = ['-m', 'pip', 'download', '--quiet', '--disable-pip-version-check', '--no-deps'];
  await run('python3', [...pip, '--only-binary', ':all:', '--dest', draft, `zuul==${VERSION}`]);
  const [wheel = ''] = await readdir(draft);
  await run('python3', ['-m', 'zipfile', '-e', path.join(draft, wheel), draft]);
  await rm(place, { recursive: true, force: true });
  await rename(draft, place);
}

async function isThere(file: string): Promise<boolean> {
  return access(file).then(
    () => true,
    () => false,
  );
}
