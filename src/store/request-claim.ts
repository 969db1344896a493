/** A request that a worker holds: proof of the claim, and the only way to report on the request and to complete it. */
import { unlessAborted } from '../lib/unless-aborted.ts';
import { isConnectionLoss, settle } from './connection.ts';
import { baseName, parentPath } from './node-path.ts';
import { check, create, type Operation, remove, StoreError, set } from './port.ts';
import { readNow } from './read-now.ts';
import { createPathRefresher } from './refresher.ts';
import type { Requestable, RequestQueue } from './request-queue.ts';
import { keptOf, withHosts } from './request-record.ts';
import { restated, type StoredRequest } from './stored-request.ts';

/** What became of a worker's write. */
export type ClaimOutcome =
  | 'done'
  /** The claim is no longer ours: nothing was written, and nothing will be. Another process decides about the request. */
  | 'lost';

/** Passed by `claimRequest`, after it has created the claim. */
export interface ClaimDeps<T extends Requestable> {
  readonly queue: RequestQueue<T>;
  readonly request: StoredRequest<T>;
  readonly claimPath: string;
}

/** Made by `claimRequest`. It watches itself until it is completed or lost. */
export class Claim<T extends Requestable> {
  /** As it was before the claim: its state is still `requested`. */
  readonly request: StoredRequest<T>;
  readonly #deps: ClaimDeps<T>;
  readonly #cancelled = new AbortController();
  readonly #lost = new AbortController();
  readonly #watches: readonly Disposable[];
  #previous: Promise<unknown> = Promise.resolve();
  #cancelMessage: Uint8Array | undefined;
  #paused = false;
  #finished = false;
  #completing = false;

  constructor(deps: ClaimDeps<T>) {
    this.#deps = deps;
    this.request = deps.request;
    const { store } = deps.queue;
    const cancelPath = deps.queue.cancelPath(deps.request.uuid);
    this.#watches = [
      store.watch(cancelPath, () => this.#check('synced')),
      store.watch(deps.claimPath, event => {
        if (event.kind !== 'changed') this.#check('synced');
      }),
      store.onSessionState(state => {
        if (state === 'lost') this.#lose(new StoreError('SessionExpired', deps.claimPath));
        if (state === 'connected') this.#check('synced');
      }),
    ];
    // It may have been cancelled before we took it. Nothing was missed since then, so this read needs no sync.
    this.#check('plain');
  }

  /** Aborts when the work is to stop. The request still has to be completed, with the result so far. */
  get cancelled(): AbortSignal {
    return this.#cancelled.signal;
  }

  /** The message sent with the cancel; undefined before {@link cancelled}. */
  get cancelMessage(): Uint8Array | undefined {
    return this.#cancelMessage;
  }

  /** Aborts when the claim is no longer ours: stop working, the result would be refused. */
  get lost(): AbortSignal {
    return this.#lost.signal;
  }

  /**
   * Writes while the claim is held, e.g. that the build has started. Each call is applied once, even when replies are lost.
   *
   * @param operationId unique per call.
   * @throws StoreError when one of `operations` fails.
   */
  report(operations: readonly Operation[], operationId: string): Promise<ClaimOutcome> {
    const { claimPath } = this.#deps;
    const mark = new TextEncoder().encode(operationId);
    const all = [check(claimPath), ...operations, set(claimPath, mark)];
    return this.#inTurn(all, 1, async () => {
      const node = await this.#deps.queue.store.get(claimPath);
      if (node === undefined) return 'lost';
      return Buffer.from(node.data).equals(mark) ? 'done' : undefined;
    });
  }

  /**
   * Removes the request and the claim and applies `operations` (the result), in one transaction.
   *
   * @throws StoreError when one of `operations` fails; the request is then still ours.
   */
  complete(operations: readonly Operation[] = []): Promise<ClaimOutcome> {
    return this.#end(this.#bodyRemoval(), operations);
  }

  /**
   * Gives back the hosts that it was granted: the same request waits for others, at its old place in the order. As for the rest, see
   * {@link complete}.
   */
  handBack(operations: readonly Operation[]): Promise<ClaimOutcome> {
    const { path } = this.request;
    const { granted: _, wanted, ...tries } = keptOf(this.request);
    const place = `${parentPath(path)}/${withHosts(baseName(path), { hosts: 'waiting' })}`;
    const again = wanted === undefined ? {} : { wanted: { ...wanted, returns: (wanted.returns ?? 0) + 1 } };
    const waiting = create(
      place,
      restated(this.request, { state: { kind: 'requested' }, ...tries, ...again }),
    );
    return this.#end([], [waiting, ...operations]);
  }

  async #end(body: readonly Operation[], operations: readonly Operation[]): Promise<ClaimOutcome> {
    const { claimPath, queue, request } = this.#deps;
    const own = [remove(claimPath), remove(request.path), ...body];
    // From here on a vanished claim is our own doing.
    this.#completing = true;
    try {
      const outcome = await this.#inTurn([...own, ...operations], own.length, async () =>
        // Our session lives, so the claim was removed by that multi.
        (await queue.store.get(claimPath)) === undefined ? 'done' : undefined,
      );
      this.#finish();
      const { cancelPath, resumePath } = this.#marks();
      if (outcome === 'done' && this.cancelled.aborted) await this.#drop(cancelPath);
      if (outcome === 'done' && this.#paused) await this.#drop(resumePath);
      return outcome;
    } catch (error) {
      this.#completing = false;
      this.#check('synced');
      throw error;
    }
  }

  /** Resolves when the requester lets paused work go on, or when `ended` aborts. Never rejects: without the claim, {@link lost} aborts. */
  async resumed(ended: AbortSignal): Promise<void> {
    this.#paused = true;
    const { store } = this.#deps.queue;
    const { resumePath } = this.#marks();
    const found = Promise.withResolvers<void>();
    const read = async () => {
      if ((await readNow(store, () => store.get(resumePath))) !== undefined) found.resolve();
    };
    using copy = createPathRefresher(store, resumePath, read, { onError: () => undefined });
    void copy.touch();
    await unlessAborted(() => found.promise, ended);
  }

  #bodyRemoval(): readonly Operation[] {
    const { body } = this.#deps.request;
    return body === undefined ? [] : [remove(body)];
  }

  #inTurn(
    operations: readonly Operation[],
    own: number,
    outcomeInDoubt: () => Promise<ClaimOutcome | undefined>,
  ): Promise<ClaimOutcome> {
    const turn = this.#previous.then(() => this.#write(operations, own, outcomeInDoubt));
    this.#previous = turn.catch(() => {}); // the caller gets the failure; the next call must run all the same
    return turn;
  }

  /** @param own how many of the first operations concern the claim, not the caller. */
  async #write(
    operations: readonly Operation[],
    own: number,
    outcomeInDoubt: () => Promise<ClaimOutcome | undefined>,
  ): Promise<ClaimOutcome> {
    const { store } = this.#deps.queue;
    const { body } = this.#deps.request;
    for (;;) {
      if (this.#finished || this.#lost.signal.aborted) return 'lost';
      try {
        await store.multi(operations);
        return 'done';
      } catch (error) {
        if (!(error instanceof StoreError)) throw error;
        if (isMissing(body, error, own))
          return this.#write(operations.toSpliced(own - 1, 1), own - 1, outcomeInDoubt);
        if (isLost(error, own)) return this.#lose(error);
        if (!isConnectionLoss(error)) throw callersError(error, own);
      }
      const outcome = await settle(store, outcomeInDoubt).catch(error => this.#lose(error));
      if (outcome !== undefined) return outcome;
    }
  }

  #check(how: 'plain' | 'synced'): void {
    if (this.#completing) return;
    this.#readState(how).catch(error => this.#loseUnlessFinished(error));
  }

  async #readState(how: 'plain' | 'synced'): Promise<void> {
    if (this.#finished || this.#lost.signal.aborted) return;
    const { queue, request, claimPath } = this.#deps;
    const paths = [queue.cancelPath(request.uuid), claimPath];
    const ask = () => queue.store.getMany(paths);
    const [mark, claim] = await (how === 'plain' ? readNow(queue.store, ask) : settle(queue.store, ask));
    if (this.#finished || this.#completing) return;
    if (claim?.stat.ephemeralOwner !== queue.store.sessionId)
      await this.#previous.then(() => this.#loseUnlessFinished(new StoreError('NoNode', claimPath)));
    else if (mark !== undefined) {
      this.#cancelMessage = mark.data;
      this.#cancelled.abort();
    }
  }

  /** The claim may be gone because we completed the request. */
  #loseUnlessFinished(reason: unknown): void {
    if (!this.#finished) this.#lose(reason);
  }

  #lose(reason: unknown): 'lost' {
    this.#finish();
    this.#lost.abort(reason);
    return 'lost';
  }

  #finish(): void {
    this.#finished = true;
    for (const watch of this.#watches) watch[Symbol.dispose]();
  }

  #marks() {
    const { queue, request } = this.#deps;
    return { cancelPath: queue.cancelPath(request.uuid), resumePath: queue.resumePath(request.uuid) };
  }

  async #drop(mark: string): Promise<void> {
    try {
      await this.#deps.queue.store.multi([remove(mark)]);
    } catch (error) {
      // The sweeper removes stale marks: the result is stored, nothing else may fail now.
      if (!(error instanceof StoreError)) throw error;
    }
  }
}

/** The body was removed by hand. It is the last of our own: the claim and the request are there. */
function isMissing(body: string | undefined, error: StoreError, own: number): boolean {
  return error.code === 'NoNode' && error.failedOperation === own - 1 && error.path === body;
}

function isLost({ code, failedOperation }: StoreError, own: number): boolean {
  if (code === 'SessionExpired' || code === 'Closed') return true;
  return code !== 'TooLarge' && failedOperation !== undefined && failedOperation < own;
}

function callersError(error: StoreError, own: number): StoreError {
  const { code, path, failedOperation } = error;
  return failedOperation === undefined
    ? error
    : new StoreError(code, path, failedOperation - own, { cause: error });
}
