/**
 * Removes workspaces that are not held any more: their request expired or was deleted, or never came to hold them, because the executor ended,
 * another build was first, or the claim was lost. One whose request cannot be read stays.
 *
 *     build ends ──► .held/<request>-<build> ──► result and request stored, in one write ──► request over ──► removed
 *                      └── spared while its build is under way ──┘
 */
import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Uuid } from '../../lib/ids.ts';
import type { Log } from '../../lib/log.ts';
import { createDirty, type Dirty } from '../../lib/signal.ts';
import { holdsBuild } from '../../nodes/hold-requests.ts';
import { isOutOfContact } from '../../store/connection.ts';
import type { StorePaths } from '../../store/paths.ts';
import type { Store } from '../../store/port.ts';
import { wakeUps } from '../../store/wake-ups.ts';
import { HELD, parseHeldName } from './held-name.ts';

/** Where the requests are. */
export interface HoldRecords {
  readonly store: Store;
  readonly paths: Pick<StorePaths, 'holds' | 'hold'>;
}

/** Of one executor, from its start to its stop. */
export interface HeldCare {
  /** Until the result is disposed of the workspace of the build stays: its result is not stored yet. */
  spare(build: Uuid): Disposable;
  /** Resolves when it looks at nothing any more. */
  stop(): Promise<void>;
}

interface HeldCareDeps {
  readonly jobDir: string;
  readonly records: HoldRecords | undefined;
  readonly log: Pick<Log, 'info' | 'warn'>;
  /** @param path of a directory in `.held`; once it returns, it is there no more. */
  readonly remove: (path: string) => Promise<void>;
}

/** Looks at what is held at once, and whenever a request changes or a build has left its workspace. */
export function careForHeld(deps: HeldCareDeps): HeldCare {
  const spared = new Set<Uuid>();
  const dirty = createDirty(true);
  const ending = new AbortController();
  const { records, log } = deps;
  const working =
    records === undefined
      ? undefined
      : care(deps, records, { spared, dirty }, ending.signal).catch((error: unknown) => {
          // The executor ends for the same reason.
          if (!ending.signal.aborted && !isOutOfContact(error))
            log.warn({ error: String(error) }, 'workspaces that are held are not removed any more');
        });
  return {
    spare(build) {
      spared.add(build);
      return {
        [Symbol.dispose]() {
          spared.delete(build);
          if (isThere(deps.jobDir, build)) dirty.set();
        },
      };
    },
    async stop() {
      ending.abort();
      await working;
    },
  };
}

function isThere(jobDir: string, build: Uuid): boolean {
  const held = join(jobDir, HELD);
  return existsSync(held) && readdirSync(held).some(name => parseHeldName(name)?.build === build);
}

async function care(
  deps: HeldCareDeps,
  records: HoldRecords,
  { spared, dirty }: { readonly spared: ReadonlySet<Uuid>; readonly dirty: Dirty },
  signal: AbortSignal,
): Promise<void> {
  const { store, paths } = records;
  mkdirSync(join(deps.jobDir, HELD), { recursive: true, mode: 0o700 });
  for await (const _ of wakeUps(store, paths.holds, signal, undefined, dirty))
    for (const name of await namesIn(deps)) await removeUnheld({ ...deps, records, spared }, name);
}

async function namesIn({ jobDir, log }: HeldCareDeps): Promise<readonly string[]> {
  try {
    return await readdir(join(jobDir, HELD));
  } catch (error) {
    log.warn({ error: String(error) }, 'the workspaces that are held could not be listed');
    return [];
  }
}

async function removeUnheld(
  {
    records,
    spared,
    jobDir,
    log,
    remove,
  }: HeldCareDeps & { records: HoldRecords; spared: ReadonlySet<Uuid> },
  name: string,
): Promise<void> {
  const held = parseHeldName(name);
  if (held === undefined || spared.has(held.build)) return;
  if ((await holdsBuild(records, held.request, held.build)) !== 'over') return;
  const path = join(jobDir, HELD, name);
  try {
    await remove(path);
    log.info({ path }, 'a workspace is not held any more');
  } catch (error) {
    log.warn({ path, error: String(error) }, 'a workspace that is not held any more could not be removed');
  }
}
