/** Deletions that continue after their builds have ended: those of a moment together, with one process. */
import type { Log } from '../lib/log.ts';
import { pause } from '../lib/pause.ts';
import type { OwnProcesses } from './git-process.ts';
import { deleteTrees } from './remove-build.ts';

/** The trees that one executor has yet to delete; each has been renamed away. */
export interface Removals {
  /** A tree that cannot be deleted is logged, and left to the next start. */
  add(place: string, log: Pick<Log, 'warn'>): void;
  /** Resolves when nothing is left to delete; what waits is deleted now. */
  idle(): Promise<void>;
}

interface Waiting {
  readonly place: string;
  readonly log: Pick<Log, 'warn'>;
}

/** Milliseconds in which deletions gather. */
const GATHER_MS = 300;

/** @param own runs the deletions. */
export function createRemovals(own: OwnProcesses): Removals {
  let waiting: Waiting[] = [];
  let gathering: AbortController | undefined;
  const running = new Set<Promise<void>>();

  async function deleteLater(together: AbortController): Promise<void> {
    await pause(GATHER_MS, together.signal);
    const gathered = waiting;
    waiting = [];
    gathering = undefined;
    await deleteAll(own, gathered);
  }

  return {
    add(place, log) {
      waiting.push({ place, log });
      if (gathering !== undefined) return;
      gathering = new AbortController();
      const removal = deleteLater(gathering).finally(() => running.delete(removal));
      running.add(removal);
    },
    async idle() {
      gathering?.abort();
      await Promise.all(running);
    },
  };
}

/** One by one where they cannot be deleted together: one that cannot be must not keep the others. */
async function deleteAll(own: OwnProcesses, gathered: readonly Waiting[]): Promise<void> {
  try {
    await deleteTrees(
      own,
      gathered.map(({ place }) => place),
    );
  } catch (error) {
    if (gathered.length > 1) {
      for (const one of gathered) await deleteAll(own, [one]);
      return;
    }
    for (const { place, log } of gathered)
      log.warn(
        { place, error: error instanceof Error ? error.message : String(error) },
        'a build directory could not be deleted; the next start tries again',
      );
  }
}
