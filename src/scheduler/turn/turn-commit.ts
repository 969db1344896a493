/**
 * The commit of a turn: one multi-write. A turn too large for one (a reset of hundreds of items) is staged, and still applies whole or
 * not at all, whenever a process crashes.
 *
 * Operations that others race for are apart from those that only the holder of the pipeline makes: `guards` must hold at the moment
 * of the commit, `withdrawals` take requests away from workers. In a staged commit the withdrawals come after the state in which the
 * work is cancelled. Results of workers are ignored from then on, and requests that a crash leaves behind are withdrawn by the next
 * pass over the pipeline (`settle-lost-work.ts`).
 */
import type { IdMaker } from '../../lib/ids.ts';
import type { Log } from '../../lib/log.ts';
import type { Fence } from '../../store/fence.ts';
import { MAX_MULTI_BYTES, type Operation, type Store, StoreError } from '../../store/port.ts';
import { operationBytes } from '../../store/size.ts';
import { splitOperations } from '../../store/split-operations.ts';
import { commitStaged } from '../../store/staged-commit.ts';

/** A turn as operations; see above for the three parts. */
export interface TurnCommit {
  readonly guards: readonly Operation[];
  /** Reads the requests as they are now; called again for each try. */
  withdrawals(): Promise<readonly Operation[]>;
  readonly own: readonly Operation[];
}

/** Of one pipeline, for its holder. */
export interface TurnCommitDeps {
  readonly fence: Pick<Fence, 'commit'>;
  readonly store: Store;
  /** Place of commits too large for one multi. */
  readonly staged: string;
  readonly ids: IdMaker;
  readonly log: Log;
}

/** Upper bound of what the fence adds to a multi-write. */
const FENCE_BYTES = 4096;
const MAX_WITHDRAWALS = 5;

/** @throws StoreError `NoNode`, `BadVersion`, `NodeExists`: commit conflict, nothing was applied. */
export async function commitTurn(commit: TurnCommit, deps: TurnCommitDeps): Promise<void> {
  const { fence, ids } = deps;
  const all = [...commit.guards, ...(await commit.withdrawals()), ...commit.own];
  const bytes = all.reduce((sum, operation) => sum + operationBytes(operation), 0);
  if (bytes <= MAX_MULTI_BYTES - FENCE_BYTES) {
    await fence.commit(all, ids.uuid());
    return;
  }
  await commitStaged({ ...deps, path: deps.staged, newId: () => ids.uuid() }, commit.own, commit.guards);
  await withdraw(commit, deps);
}

async function withdraw({ withdrawals }: TurnCommit, { fence, ids, log }: TurnCommitDeps): Promise<void> {
  for (let tries = 1; tries <= MAX_WITHDRAWALS; tries++) {
    try {
      for (const part of splitOperations(await withdrawals())) await fence.commit(part, ids.uuid());
      return;
    } catch (error) {
      if (!(error instanceof StoreError) || !['NoNode', 'BadVersion', 'NodeExists'].includes(error.code))
        throw error;
    }
  }
  log.warn({}, 'workers took cancelled requests before they could be withdrawn');
}
