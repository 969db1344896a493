/**
 * A request to a merger that is not about an item: submitted like any request, answered in a node of the tenant. The answer may
 * outlive the process that asked. After a crash the request is made again under a new id, and the holder of the tenant removes
 * answers to requests that are not its own.
 */
import type { IdMaker } from '../../lib/ids.ts';
import { pause } from '../../lib/pause.ts';
import { createDirty, type Dirty } from '../../lib/signal.ts';
import { mergerOutcomeCodec } from '../../model/codec/records.ts';
import type { MergerOutcome, MergerRequest } from '../../model/merge.ts';
import type { TenantName } from '../../model/project.ts';
import { isConnectionLoss, settle } from '../../store/connection.ts';
import { ensureNode } from '../../store/ensure-node.ts';
import type { Fence } from '../../store/fence.ts';
import type { StorePaths } from '../../store/paths.ts';
import { remove, type Store, StoreError } from '../../store/port.ts';
import type { RequestQueue } from '../../store/request-queue.ts';
import { splitOperations } from '../../store/split-operations.ts';
import { wakeUps } from '../../store/wake-ups.ts';

/** Milliseconds between checks whether the request still exists. */
const LOST_CHECK_MS = 60_000;

/** Of one tenant; `asked` is shared by all its requests. */
export interface AskDeps {
  readonly store: Store;
  readonly paths: StorePaths;
  readonly mergeRequests: RequestQueue<MergerRequest>;
  /** Requests that this process waits for: other answers are leftovers. */
  readonly asked: Set<string>;
}

/**
 * Rejects with the signal's reason when aborted.
 *
 * @throws Error when the request is gone without an answer.
 */
export async function askMerger(
  request: MergerRequest,
  deps: AskDeps,
  signal: AbortSignal,
): Promise<MergerOutcome> {
  const { store, paths, mergeRequests, asked } = deps;
  const places = paths.tenant(request.tenant);
  const path = places.answer(request.uuid);
  await ensureNode(store, places.answers, signal);
  const over = new AbortController();
  const dirty = createDirty();
  using watch = store.watch(path, () => dirty.set());
  void watch;
  asked.add(request.uuid);
  try {
    await mergeRequests.prepare(signal);
    await mergeRequests.submitNow(request);
    void wakeRegularly(dirty, over.signal);
    const answer = () => settle(store, () => store.get(path), signal);
    for (;;) {
      let node = await answer();
      // The multi-write that adds the answer removes the request.
      const isAsked =
        node === undefined && (await settle(store, () => mergeRequests.has(request.uuid), signal));
      if (!isAsked) node ??= await answer();
      if (node !== undefined) {
        await removeOwn(path, store);
        return mergerOutcomeCodec.decode(node.data);
      }
      if (!isAsked) throw new Error(`request ${request.uuid} to a merger was lost`);
      await dirty.wait(signal);
    }
  } finally {
    asked.delete(request.uuid);
    over.abort();
  }
}

async function removeOwn(path: string, store: Store): Promise<void> {
  try {
    await store.multi([remove(path)]);
  } catch (error) {
    // It may still exist: then it is a leftover.
    if (!isConnectionLoss(error) && !(error instanceof StoreError && error.code === 'NoNode')) throw error;
  }
}

async function wakeRegularly(dirty: Dirty, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await pause(LOST_CHECK_MS, signal);
    dirty.set();
  }
}

/** Removes leftover answers, among them read answers to our own requests, until aborted. */
export async function removeLeftoverAnswers(
  tenant: TenantName,
  deps: AskDeps & { readonly ids: IdMaker },
  fence: Fence,
  signal: AbortSignal,
): Promise<void> {
  const { answers } = deps.paths.tenant(tenant);
  for await (const _ of wakeUps(deps.store, answers, signal, event => event.kind === 'created')) {
    const names = (await deps.store.children(answers)) ?? [];
    const leftover = names.filter(name => !deps.asked.has(name)).map(name => remove(`${answers}/${name}`));
    for (const part of splitOperations(leftover)) await fence.commit(part, deps.ids.uuid());
  }
}
