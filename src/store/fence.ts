/**
 * The fence: why a scheduler that lost its lock cannot write, even if it does not know yet.
 *
 * A lock is not a fence: its holder may be paused for a minute, lose its session and go on writing. So each new holder of
 * the lock raises an epoch, and every write is one multi that begins with
 *
 *     check(own lock node), check(epoch node, version we set), …what the caller wants…, set(last operation, id)
 *
 * It applies as a whole while we are the holder, and not at all afterwards. When the reply is lost, the last operation's id
 * shows whether it applied; for that to hold, commits of one fence run one after the other.
 *
 *     const fence = await acquireFence(store, { lockPath, epochPath, lastOperationPath, guid: ids.uuid(), signal });
 *     await fence.commit([set(paths.item(uuid), data)], ids.uuid());
 *     if (!fence.held) return;            // before an effect outside the store: also `await fence.commit([], ids.uuid())`
 *
 * `held` is what this process may still assume; `commit` is authoritative.
 */
import { isConnectionLoss, settle } from './connection.ts';
import { ensureNode } from './ensure-node.ts';
import { acquireLock, type Lock, type LockRequest } from './lock.ts';
import { check, type Operation, type OperationResult, type Store, StoreError, set } from './port.ts';

/** The places of a lock and its epoch: of a connection, tenant or pipeline (paths.ts), or of the sweeper. */
export interface FenceRequest extends Omit<LockRequest, 'path'> {
  readonly lockPath: string;
  /** Its version is the epoch; created when missing. */
  readonly epochPath: string;
  /**
   * Where the id of the last commit is stored. Without it, a commit whose reply is lost rejects with `ConnectionLoss` and
   * the caller has to find out by itself.
   */
  readonly lastOperationPath?: string;
}

/** The write was refused because another process is, or may be, the holder. Stop; never retry with this fence. */
export class Fenced extends Error {
  override readonly name = 'Fenced';
  /** `unknown`: the session ended before the outcome of a lost reply could be read; the successor sees the result. */
  readonly outcome: 'not-applied' | 'unknown';
  constructor(lockPath: string, outcome: 'not-applied' | 'unknown', options?: ErrorOptions) {
    super(
      `no longer the holder of ${lockPath} (write ${outcome === 'unknown' ? 'may have been applied' : 'not applied'})`,
      options,
    );
    this.outcome = outcome;
  }
}

/** How much is known of a commit that applied. */
export type Committed =
  | { readonly kind: 'committed'; readonly results: readonly OperationResult[] }
  /** Applied, as the last operation's id proves, but the reply was lost: names and versions are unknown. */
  | { readonly kind: 'committed-unseen' };

/** How often a write that is known not to have been applied is sent again before the caller gets `ConnectionLoss`. */
const MAX_SENDS = 5;

/** Waits for the lock, raises the epoch, and returns the fence. */
export async function acquireFence(store: Store, request: FenceRequest): Promise<Fence> {
  const { lockPath, epochPath, lastOperationPath, guid, signal } = request;
  for (const path of [epochPath, lastOperationPath])
    if (path !== undefined) await ensureNode(store, path, signal);
  const lock = await acquireLock(store, {
    path: lockPath,
    guid,
    ...(signal === undefined ? {} : { signal }),
  });
  try {
    const epoch = await raiseEpoch(store, lock, epochPath, signal);
    return new Fence({ store, lock, lockPath, epochPath, epoch, lastOperationPath });
  } catch (error) {
    await lock.release();
    throw error;
  }
}

/**
 * The epoch is the version of its node, so that a check and a raise use the same number; the data names the holder.
 *
 * @returns the epoch we set.
 */
async function raiseEpoch(store: Store, lock: Lock, path: string, signal?: AbortSignal): Promise<number> {
  const holder = new TextEncoder().encode(lock.path);
  for (;;) {
    const node = await settle(store, () => store.get(path), signal);
    if (node === undefined) throw new StoreError('NoNode', path);
    if (Buffer.from(node.data).equals(holder)) return node.stat.version;
    try {
      const [, raised] = await store.multi([check(lock.path), set(path, holder, node.stat.version)]);
      if (raised !== undefined) return raised.version;
    } catch (error) {
      if (error instanceof StoreError && error.failedOperation === 0) {
        throw new Fenced(lock.path, 'not-applied', { cause: error });
      }
      if (!isConnectionLoss(error) && !(error instanceof StoreError && error.code === 'BadVersion'))
        throw error;
    }
  }
}

interface FenceDeps {
  readonly store: Store;
  readonly lock: Lock;
  readonly lockPath: string;
  readonly epochPath: string;
  readonly epoch: number;
  readonly lastOperationPath: string | undefined;
}

/** Made by {@link acquireFence}. Releases the lock when disposed of. */
export class Fence implements AsyncDisposable {
  /** Grows with each holder. Effects outside the store carry it. */
  readonly epoch: number;
  /** Name of our node among the children of the lock; it is gone when it was removed or our session ended. */
  readonly contender: string;
  readonly #deps: FenceDeps;
  readonly #lost = new AbortController();
  readonly #stateListener: Disposable;
  /** The commit before the next one, so that they never overlap. */
  #previous: Promise<unknown> = Promise.resolve();
  #released: Promise<void> | undefined;

  constructor(deps: FenceDeps) {
    this.#deps = deps;
    this.epoch = deps.epoch;
    this.contender = deps.lock.path.slice(deps.lock.path.lastIndexOf('/') + 1);
    this.#stateListener = deps.store.onSessionState(state => {
      if (state === 'lost') this.#lose(new Fenced(deps.lockPath, 'not-applied'));
    });
  }

  /** False as soon as the session is out of contact, which is before the store can give the lock to another process. */
  get held(): boolean {
    return !this.#lost.signal.aborted && this.#deps.store.sessionState === 'connected';
  }

  /** Aborts once the fence is lost for good or released, not for a mere suspension. For loops that run under it. */
  get lost(): AbortSignal {
    return this.#lost.signal;
  }

  /**
   * Applies all operations, or none.
   *
   * @param operationId unique per commit.
   * @throws Fenced when we are no longer the holder.
   * @throws StoreError when an operation of the caller fails (`failedOperation` counts the caller's), is `TooLarge`, or on
   *   `ConnectionLoss` without an outcome (only without `lastOperationPath`, or known not to have been applied after retries).
   */
  commit(operations: readonly Operation[], operationId: string): Promise<Committed> {
    const turn = this.#previous.then(() => this.#commit(operations, operationId));
    this.#previous = turn.catch(() => {}); // the caller gets the failure; the next commit must run all the same
    return turn;
  }

  /** Releases the lock, after the commits in flight. Idempotent. */
  release(): Promise<void> {
    this.#released ??= this.#release();
    return this.#released;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.release();
  }

  async #release(): Promise<void> {
    await this.#previous;
    this.#lose(new Fenced(this.#deps.lockPath, 'not-applied'));
    await this.#deps.lock.release();
  }

  async #commit(operations: readonly Operation[], operationId: string): Promise<Committed> {
    for (let sends = 1; ; sends++) {
      try {
        return { kind: 'committed', results: await this.#send(operations, operationId) };
      } catch (error) {
        // An earlier send may have been applied before our lock was removed: this refusal proves nothing.
        if (error instanceof Fenced && sends > 1)
          throw new Fenced(this.#deps.lockPath, 'unknown', { cause: error });
        if (!isConnectionLoss(error) || this.#deps.lastOperationPath === undefined) throw error;
        if (await this.#wasApplied(this.#deps.lastOperationPath, operationId))
          return { kind: 'committed-unseen' };
        if (sends === MAX_SENDS) throw error;
      }
    }
  }

  async #send(operations: readonly Operation[], operationId: string): Promise<readonly OperationResult[]> {
    const { store, lock, lockPath, epochPath, lastOperationPath } = this.#deps;
    if (this.#lost.signal.aborted)
      throw new Fenced(lockPath, 'not-applied', { cause: this.#lost.signal.reason });
    const checks = [check(lock.path), check(epochPath, this.epoch)];
    const mark =
      lastOperationPath === undefined ? [] : [set(lastOperationPath, new TextEncoder().encode(operationId))];
    try {
      const results = await store.multi([...checks, ...operations, ...mark], operationId);
      return results.slice(checks.length, checks.length + operations.length);
    } catch (error) {
      throw this.#classify(error, checks.length);
    }
  }

  #classify(error: unknown, checks: number): unknown {
    if (!(error instanceof StoreError)) return error;
    const { code, path, failedOperation } = error;
    const refused = failedOperation !== undefined && failedOperation < checks && code !== 'TooLarge';
    if (refused || code === 'SessionExpired' || code === 'Closed') {
      const fenced = new Fenced(this.#deps.lockPath, 'not-applied', { cause: error });
      this.#lose(fenced);
      return fenced;
    }
    return failedOperation === undefined
      ? error
      : new StoreError(code, path, failedOperation - checks, { cause: error });
  }

  async #wasApplied(lastOperationPath: string, operationId: string): Promise<boolean> {
    const { store, lockPath } = this.#deps;
    try {
      const node = await settle(store, () => store.get(lastOperationPath));
      return node !== undefined && new TextDecoder().decode(node.data) === operationId;
    } catch (error) {
      const fenced = new Fenced(lockPath, 'unknown', { cause: error });
      this.#lose(fenced);
      throw fenced;
    }
  }

  #lose(reason: Fenced): void {
    this.#stateListener[Symbol.dispose]();
    this.#lost.abort(reason);
  }
}
