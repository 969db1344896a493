/**
 * The directory of one build and its layout.
 *
 *     <job_dir>/<build uuid>/
 *       work/             writable by the job: src/<canonical name>, logs, artifacts
 *       info/             variables.json, and in bin Gatehouse's tools for jobs; read-only for the job
 *       playbooks/        checkouts the playbooks run from, read-only for the job
 *       layers/<n>/       upper and work directory of overlay n, where checkouts are overlays
 *       home/             of its processes; inside a sandbox only of those without secrets
 *       tmp/              only without a sandbox (inside one it is memory)
 *       process.json      which process of which boot works here, for the sweep after a crash
 *
 * It is made in one go: some thirty short system calls take less time than one of them waits for a thread on a busy machine.
 */
import { chmodSync, chownSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Uuid } from '../lib/ids.ts';
import { installTools } from './job-tools/install-tools.ts';
import { thisProcess } from './process-identity.ts';
import type { Owner } from './sandbox/stage.ts';

/** Below `info`: on the job's PATH. */
export const TOOLS = 'bin';

/** Host paths of one build; each job sees them under the names of its `JobView`. {@link makePlaces} creates all of them. */
export interface BuildPlaces {
  readonly root: string;
  readonly work: string;
  readonly src: string;
  readonly logs: string;
  readonly artifacts: string;
  readonly info: string;
  readonly playbooks: string;
  readonly layers: string;
  readonly home: string;
  readonly tmp: string;
}

/** File in a build directory naming the process that works there. */
export const PROCESS_FILE = 'process.json';

/** Computes the paths only: also for a build whose directory does not exist yet, or no longer. */
export function placesOf(jobDir: string, build: Uuid): BuildPlaces {
  const root = join(jobDir, build);
  const work = join(root, 'work');
  return {
    root,
    work,
    src: join(work, 'src'),
    logs: join(work, 'logs'),
    artifacts: join(work, 'artifacts'),
    info: join(root, 'info'),
    playbooks: join(root, 'playbooks'),
    layers: join(root, 'layers'),
    home: join(root, 'home'),
    tmp: join(root, 'tmp'),
  };
}

/** @param work as the job sees it. @throws Error EEXIST when the build already has a directory: a path is never used twice. */
export function makePlaces(places: BuildPlaces, owner: Owner | null, work: string): void {
  // Other users may pass through (to reach their own directories) but not list it.
  makeDirectory(places.root, 0o711, null);
  writeFileSync(join(places.root, PROCESS_FILE), JSON.stringify(thisProcess()));
  makeDirectory(places.playbooks, 0o755, null);
  makeDirectory(places.layers, 0o711, null);
  for (const path of [places.work, places.home, places.tmp]) makeDirectory(path, 0o700, owner);
  symlinkSync(join(work, 'src'), join(places.home, 'src'));
  for (const path of [places.src, places.logs, places.artifacts]) makeDirectory(path, 0o755, owner);
  const tools = join(places.info, TOOLS);
  for (const path of [places.info, tools]) makeDirectory(path, 0o755, null);
  installTools(tools);
}

/** @param owner null: the service's user owns it. */
export function makeDirectory(path: string, mode: number, owner: Owner | null): void {
  mkdirSync(path, { mode });
  // The umask may have taken from it.
  chmodSync(path, mode);
  if (owner !== null) chownSync(path, owner.uid, owner.gid);
}
