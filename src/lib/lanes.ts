/**
 * Runs tasks in parallel, except those that must keep their order: tasks of one key run one after the other, in the order given.
 * Tasks belong to groups, and both are bounded: the number of groups at a time, and of tasks in each. A slow group takes one place,
 * however many tasks it has.
 *
 *     const lanes = createLanes({ groups: 32, ofEach: 8 });
 *     for (const each of found) lanes.run({ group: each.project, key: each.item }, () => carryOut(each));
 *     await lanes.idle();
 *
 * After a task fails no further one begins; `failed` aborts with its error and `idle` rejects with it.
 */
export interface Lanes {
  readonly failed: AbortSignal;
  run(lane: Lane, task: () => Promise<void>): void;
  /** Has the effect of a task that fails with this error. */
  stop(error: unknown): void;
  /** Resolves when nothing runs or waits. @throws the error of the first task that failed, after the running ones have ended. */
  idle(): Promise<void>;
}

/** Where a task waits for its turn. */
export interface Lane {
  readonly group: string;
  /** Tasks of one key may be of several groups. */
  readonly key: string;
}

/** @param most groups at a time, and tasks of each. */
export function createLanes(most: { readonly groups: number; readonly ofEach: number }): Lanes {
  const stop = new AbortController();
  const waiting: { readonly lane: Lane; readonly task: () => Promise<void> }[] = [];
  /** By key. */
  const running = new Map<string, Promise<void>>();
  /** Number of running tasks, by group. */
  const groups = new Map<string, number>();

  function begin(): void {
    while (!stop.signal.aborted) {
      const [chosen] = waiting.splice(nextOfWaiting(), 1);
      if (chosen === undefined) return;
      const { lane, task } = chosen;
      groups.set(lane.group, (groups.get(lane.group) ?? 0) + 1);
      running.set(lane.key, runOne(lane, task));
    }
  }

  /** @returns an index past the end when none may begin. */
  function nextOfWaiting(): number {
    const held = new Set(running.keys());
    const next = waiting.findIndex(({ lane: { group, key } }) => {
      const mayBegin = !held.has(key) && hasPlace(groups.get(group));
      held.add(key);
      return mayBegin;
    });
    return next < 0 ? waiting.length : next;
  }

  function hasPlace(ofGroup: number | undefined): boolean {
    return ofGroup === undefined ? groups.size < most.groups : ofGroup < most.ofEach;
  }

  function fail(error: unknown): void {
    if (!stop.signal.aborted) stop.abort(error);
  }

  async function runOne({ group, key }: Lane, task: () => Promise<void>): Promise<void> {
    try {
      await task();
    } catch (error) {
      fail(error);
    }
    running.delete(key);
    const left = (groups.get(group) ?? 0) - 1;
    if (left > 0) groups.set(group, left);
    else groups.delete(group);
    begin();
  }

  return {
    failed: stop.signal,
    run(lane, task) {
      waiting.push({ lane, task });
      begin();
    },
    stop: fail,
    async idle() {
      while (running.size > 0) await Promise.all(running.values());
      if (stop.signal.aborted) throw stop.signal.reason;
    },
  };
}
