/**
 * Removes logs of builds that ended longer ago than `[executor] keep_logs`, one after the other. Directories that are not named
 * for a build are left alone, and so are logs that may still be written.
 */
import type { Dirent } from 'node:fs';
import { opendir, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { isUuid } from '../lib/ids.ts';
import type { Log } from '../lib/log.ts';
import { pause } from '../lib/pause.ts';
import { completeMarkOf, logPathOf } from './log-file.ts';
import { BLOBS } from './log-store/kept-files.ts';

/** Milliseconds between two runs. */
const INTERVAL = 3_600_000;
/** Pause in milliseconds after each removal: builds have priority on the disk. */
const REST = 5;
/** Milliseconds after which a log without its mark belongs to a build that died with its executor: no job runs for a week. */
const ABANDONED = 8 * 86_400_000;

/** Settings `log_dir` and `keep_logs` of section `[executor]`, and what reports each removal. */
export interface PruneLogsDeps {
  readonly logDir: string;
  /** Seconds; undefined: for ever. */
  readonly keep: number | undefined;
  /** Milliseconds since 1970, to compare with the times of files. */
  readonly now: () => number;
  readonly log: Pick<Log, 'info' | 'warn'>;
  /** Called after each removal, for metrics. */
  onPruned(logs: number): void;
}

/** Returns when aborted. */
export async function pruneLogs(deps: PruneLogsDeps, signal: AbortSignal): Promise<void> {
  const { keep, log, logDir } = deps;
  if (keep === undefined) return;
  while (!signal.aborted) {
    try {
      const pruned = await pruneOnce(keep * 1000, deps, signal);
      if (pruned > 0) log.info({ pruned, logDir }, `${pruned} logs of builds were removed for their age`);
    } catch (error) {
      log.warn({ err: error, logDir }, 'old logs could not be removed; trying again later');
    }
    await pause(INTERVAL, signal);
  }
}

async function pruneOnce(keepMs: number, deps: PruneLogsDeps, signal: AbortSignal): Promise<number> {
  let pruned = 0;
  for await (const entry of await opendir(deps.logDir)) {
    if (signal.aborted) break;
    if (!entry.isDirectory() || !isUuid(entry.name)) continue;
    const path = logPathOf(deps.logDir, entry.name);
    const before = deps.now() - keepMs;
    const ended = await modifiedAt(completeMarkOf(path));
    const written = ended === undefined ? await modifiedAt(path) : undefined;
    const isOld =
      ended === undefined ? written !== undefined && written < before - ABANDONED : ended < before;
    if (!isOld) continue;
    await rm(join(deps.logDir, entry.name), { recursive: true, force: true });
    pruned += 1;
    deps.onPruned(1);
    await pause(REST, signal);
  }
  await removeUnlinked(join(deps.logDir, BLOBS), signal);
  return pruned;
}

/** Contents that no build has any more: the name among the blobs is their only one. */
async function removeUnlinked(blobs: string, signal: AbortSignal): Promise<void> {
  for (const entry of await readdir(blobs, { recursive: true, withFileTypes: true }).catch(missing)) {
    if (signal.aborted) return;
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    if ((await stat(path)).nlink > 1) continue;
    await rm(path, { force: true });
    await pause(REST, signal);
  }
}

function missing(error: unknown): readonly Dirent[] {
  if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return [];
  throw error;
}

/** Milliseconds since 1970; undefined: there is no such file. */
async function modifiedAt(path: string): Promise<number | undefined> {
  try {
    return (await stat(path)).mtimeMs;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}
