import { createWorkCount, type WorkCount } from '../lib/work-count.ts';

/**
 * Spreads pipelines over schedulers: one that holds more than its share releases a pipeline now and then, as long as others contend
 * for it. Otherwise the scheduler that starts first would keep all of them, and a restarted one would get none.
 *
 *     5 pipelines, 2 schedulers: a share is 3. The first one holds 5, releases 2 within a minute, and keeps 3.
 *
 * The number of schedulers is that of the contenders for the pipeline's lock: they can take over immediately.
 */
export interface FairShare {
  /** Counts a pipeline that this process knows, until disposed. */
  know(): Disposable;
  /** Counts a pipeline that this process holds, until disposed. */
  hold(): Held;
  /** Pipelines that this process holds and that have items. */
  readonly work: Pick<WorkCount, 'isAtWork' | 'begun'>;
  /** @param contenders for the lock of a held pipeline, including this process. */
  isExceeded(contenders: number): boolean;
}

/** A pipeline that this process holds; disposing of it ends the count. */
export interface Held extends Disposable {
  /** Called by its holder whenever that may have changed. */
  hasItems(isSo: boolean): void;
}

/** One for each scheduler, shared by its pipelines. Counts what this process knows and holds, nothing of others. */
export function createFairShare(): FairShare {
  let known = 0;
  const held = new Set<Held>();
  const work = createWorkCount();
  return {
    know() {
      known += 1;
      return once(() => {
        known -= 1;
      });
    },
    hold() {
      let working: Disposable | undefined;
      const one: Held = {
        hasItems(isSo) {
          if (isSo) working ??= work.hold();
          else {
            working?.[Symbol.dispose]();
            working = undefined;
          }
        },
        [Symbol.dispose]() {
          one.hasItems(false);
          held.delete(one);
        },
      };
      held.add(one);
      return one;
    },
    work,
    isExceeded: contenders => contenders > 1 && held.size > Math.ceil(known / contenders),
  };
}

function once(end: () => void): Disposable {
  let isOver = false;
  return {
    [Symbol.dispose]() {
      if (!isOver) end();
      isOver = true;
    },
  };
}
