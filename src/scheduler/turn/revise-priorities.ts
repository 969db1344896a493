/**
 * Keeps the requests of waiting builds at the present rank of their items (`[scheduler] relative_priority`): an item that moves up
 * because one ahead has left is served as if it had been there from the start.
 *
 * The queue is read only when the rank of an item with waiting builds has changed. Each request is revised in a commit of its own;
 * after a commit conflict a worker has the request, and its rank no longer matters.
 */
import type { Uuid } from '../../lib/ids.ts';
import type { Precedence } from '../../model/pipeline.ts';
import type { PipelineState } from '../../model/pipeline-state.ts';
import { ranksOf } from '../../pipeline/relative-priority.ts';
import type { Fence } from '../../store/fence.ts';
import { StoreError } from '../../store/port.ts';
import { priorityOf } from './merge-requests.ts';
import type { PipelineContext } from './pipeline-context.ts';

type Wanted = ReadonlyMap<Uuid, number>;

interface RevisionContext extends Pick<PipelineContext, 'pipeline' | 'ids' | 'relativeGroup'> {
  readonly buildRequests: Pick<PipelineContext['buildRequests'], 'reprioritize'>;
}

/** One per term of the holder; call with the stored state. */
export function createPriorityRevision() {
  let seen: Wanted = new Map();
  return async (
    state: PipelineState,
    context: RevisionContext,
    fence: Pick<Fence, 'commit'>,
  ): Promise<void> => {
    const { relativeGroup, buildRequests } = context;
    if (relativeGroup === undefined) return;
    const wanted = prioritiesOfWaiting(state, context.pipeline.precedence, relativeGroup);
    const before = seen;
    if ([...wanted].every(([build, priority]) => before.get(build) === priority)) return;
    for (const operations of await buildRequests.reprioritize(wanted)) {
      try {
        await fence.commit(operations, context.ids.uuid());
      } catch (error) {
        if (!(error instanceof StoreError) || !['NoNode', 'BadVersion'].includes(error.code)) throw error;
      }
    }
    seen = wanted;
  };
}

function prioritiesOfWaiting(
  state: PipelineState,
  usual: Precedence,
  groupOf: Parameters<typeof ranksOf>[1],
): Wanted {
  const wanted = new Map<Uuid, number>();
  for (const [uuid, rank] of ranksOf(state, groupOf))
    for (const build of state.items.get(uuid)?.buildset.builds ?? [])
      if (build.state.state === 'requested')
        wanted.set(build.uuid, priorityOf(build.priority ?? usual) + rank);
  return wanted;
}
