/**
 * A holder of a lock that never stops trying: it takes the fence, commits as fast as it is answered, and when the fence is lost
 * takes it again with a new session, as a scheduler does. Every commit leaves `<epoch> <id>` in a log in the store, and every
 * moment in which it believed to hold the lock leaves an entry here.
 */
import { randomIds } from '../../../src/lib/ids.ts';
import { isConnectionLoss, settle } from '../../../src/store/connection.ts';
import { acquireFence, type Fence, Fenced } from '../../../src/store/fence.ts';
import { create, type Store, StoreError } from '../../../src/store/port.ts';

export interface FencedWriter extends AsyncDisposable {
  /** Ids of commits known to be applied, in order. */
  readonly acknowledged: readonly string[];
  /** Ids of commits whose outcome the fence did not know. */
  readonly unknown: readonly string[];
  /** When it believed to hold the lock, looked at every few milliseconds: an outside effect could have been begun then. `performance.now()`. */
  readonly effects: readonly { readonly epoch: number; readonly at: number }[];
  /** Of the fence it has, or had last. */
  readonly epoch: number;
  /** Sessions used so far. */
  readonly sessions: readonly Store[];
}

export interface WriterRequest {
  /** A node of the test's own; `<root>/log` exists. */
  readonly root: string;
  connect(signal: AbortSignal): Promise<Store>;
}

const ids = randomIds();

export function startFencedWriter({ root, connect }: WriterRequest): FencedWriter {
  const stop = new AbortController();
  const state = {
    acknowledged: [] as string[],
    unknown: [] as string[],
    effects: [] as { epoch: number; at: number }[],
    sessions: [] as Store[],
    epoch: -1,
  };
  const running = run();

  async function run(): Promise<void> {
    while (!stop.signal.aborted) {
      const store = await connect(stop.signal);
      state.sessions.push(store);
      try {
        const fence = await acquireFence(store, {
          lockPath: `${root}/lock`,
          epochPath: `${root}/epoch`,
          lastOperationPath: `${root}/last`,
          guid: ids.uuid(),
          signal: stop.signal,
        });
        state.epoch = fence.epoch;
        const look = () => {
          if (fence.held) state.effects.push({ epoch: fence.epoch, at: performance.now() });
        };
        look();
        const timer = setInterval(look, 5);
        fence.lost.addEventListener('abort', () => clearInterval(timer));
        await write(fence);
        await fence.release();
      } catch (error) {
        const lost = error instanceof StoreError && error.code === 'SessionExpired';
        if (!lost && !(error instanceof Fenced) && !stop.signal.aborted) throw error;
      }
    }
  }

  async function write(fence: Fence): Promise<void> {
    while (!stop.signal.aborted) {
      const id = ids.uuid();
      const entry = Buffer.from(`${fence.epoch} ${id}`);
      try {
        await fence.commit([create(`${root}/log/`, entry, { sequential: true })], id);
        state.acknowledged.push(id);
      } catch (error) {
        if (!(error instanceof Fenced)) {
          // Known not to be applied after many tries: the next one is another.
          if (isConnectionLoss(error)) continue;
          throw error;
        }
        if (error.outcome === 'unknown') state.unknown.push(id);
        return;
      }
    }
  }

  return {
    ...state,
    get epoch() {
      return state.epoch;
    },
    async [Symbol.asyncDispose]() {
      stop.abort(new Error('the test is over'));
      await running.catch((error: unknown) => {
        if (error !== stop.signal.reason) throw error;
      });
    },
  };
}

export interface LogEntry {
  readonly epoch: number;
  readonly id: string;
}

/** The log in the order of its transactions. */
export async function readLog(observer: Store, root: string): Promise<readonly LogEntry[]> {
  // Its own connection may come back later than that of who writes.
  await settle(observer, () => observer.sync());
  const names = (await settle(observer, () => observer.children(`${root}/log`))) ?? [];
  const nodes = await settle(observer, () => observer.getMany(names.map(name => `${root}/log/${name}`)));
  return nodes.map(node => {
    const [epoch, id = ''] = Buffer.from(node?.data ?? [])
      .toString()
      .split(' ');
    return { epoch: Number(epoch), id };
  });
}

/** @returns what is wrong: acknowledged writes that are missing or doubled, and epochs that overlap. */
export function logProblems(log: readonly LogEntry[], writers: readonly FencedWriter[]): readonly string[] {
  const count = new Map<string, number>();
  for (const { id } of log) count.set(id, (count.get(id) ?? 0) + 1);
  return [
    ...writers.flatMap(writer =>
      writer.acknowledged
        .filter(id => count.get(id) !== 1)
        .map(id => `${id} is there ${count.get(id) ?? 0} times`),
    ),
    ...[...count].filter(([, times]) => times > 1).map(([id, times]) => `${id} is there ${times} times`),
    ...log.flatMap(({ epoch }, index) =>
      epoch < (log[index - 1]?.epoch ?? epoch) ? [`epoch ${epoch} wrote after ${log[index - 1]?.epoch}`] : [],
    ),
  ];
}
