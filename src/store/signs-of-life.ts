/**
 * Signs of life: the last time a working process was known to be alive. The loss of its work is noticed seconds after it was
 * killed, or hours after when everything was down; its last sign shows until when it can have worked.
 *
 *     alive/<session>      the time, by the clock of its process, at most SIGN_INTERVAL before its end
 *
 * The first is given when work has lasted for SIGN_INTERVAL: when it began is recorded with the work itself. A process without work writes
 * none and sleeps, and a process that ends in order removes its own. A sign decides nothing: sessions and
 * locks decide whether a process is alive.
 */
import { addMilliseconds, type Clock, type Nanoseconds, parseNanoseconds } from '../lib/clock.ts';
import { pause } from '../lib/pause.ts';
import type { WorkCount } from '../lib/work-count.ts';
import { isOutOfContact } from './connection.ts';
import { create, type Operation, remove, type Store, StoreError, set } from './port.ts';

/** Milliseconds between two signs. */
export const SIGN_INTERVAL = 2_000;
/** Signs of processes that were killed: milliseconds until they are swept, and how many are kept at most. */
const KEPT_MS = 7 * 86_400_000;
const KEPT = 100;

/** One for each process that holds work. */
export interface SignDeps {
  readonly store: Store;
  /** Path of this session's sign; its parent exists. */
  readonly path: string;
  readonly clock: Pick<Clock, 'now'>;
  /** Without work no sign is written. */
  readonly work: Pick<WorkCount, 'isAtWork' | 'begun'>;
}

/** Writes signs until aborted, or until the session is over. */
export async function giveSigns(deps: SignDeps, signal: AbortSignal): Promise<void> {
  const { work } = deps;
  let given = false;
  try {
    while (!signal.aborted) {
      await work.begun(signal);
      await pause(SIGN_INTERVAL, signal);
      if (work.isAtWork && !signal.aborted) given = (await giveSign(deps)) || given;
    }
    if (given) await deps.store.multi([remove(deps.path)]);
  } catch (error) {
    // The process's work ends with its session. The sweeper removes the sign.
    if (!isOutOfContact(error) && !isNoNode(error)) throw error;
  }
}

/** @returns false when the outcome is unknown: the next sign is due anyway. */
async function giveSign({ store, path, clock }: SignDeps): Promise<boolean> {
  const time = new TextEncoder().encode(clock.now());
  try {
    await store.multi([set(path, time)]);
    return true;
  } catch (error) {
    if (error instanceof StoreError && error.code === 'ConnectionLoss') return false;
    if (!isNoNode(error)) throw error;
  }
  await store.multi([create(path, time)]).catch(error => {
    if (!(error instanceof StoreError && error.code === 'ConnectionLoss')) throw error;
  });
  return true;
}

/** @returns undefined when there is none. */
export async function lastSign(store: Store, path: string): Promise<Nanoseconds | undefined> {
  const node = await store.get(path);
  return node === undefined ? undefined : timeOf(node.data);
}

/** Operations that remove signs that are too old or too many, oldest first. Each stands alone; any of them may fail. */
export async function outdatedSigns(
  store: Store,
  parent: string,
  now: Nanoseconds,
): Promise<readonly Operation[]> {
  const paths = ((await store.children(parent)) ?? []).map(name => `${parent}/${name}`);
  const nodes = await store.getMany(paths);
  const signs = paths.flatMap((path, index) => {
    const node = nodes[index];
    const time = node === undefined ? undefined : timeOf(node.data);
    // Not a bare time: written by an upgraded process, which will sweep it.
    return node === undefined || time === undefined
      ? []
      : [{ path, time: BigInt(time), version: node.stat.version }];
  });
  signs.sort((a, b) => (a.time < b.time ? -1 : 1));
  const oldest = BigInt(addMilliseconds(now, -KEPT_MS));
  return signs
    .filter(({ time }, index) => time < oldest || index < signs.length - KEPT)
    .map(({ path, version }) => remove(path, version));
}

function timeOf(data: Uint8Array): Nanoseconds | undefined {
  const text = new TextDecoder().decode(data);
  return /^\d{1,20}$/.test(text) ? parseNanoseconds(text) : undefined;
}

function isNoNode(error: unknown): boolean {
  return error instanceof StoreError && error.code === 'NoNode';
}
