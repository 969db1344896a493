/**
 * Slots of semaphores follow the builds, by construction: the commit that stores the begin or the end of a build makes, hands on or
 * removes its slots, for any reason. They are the difference between two states of the pipeline's items.
 *
 *     held before   held now    operation
 *     –             X           create      a guard: another pipeline may have been first
 *     X             –           delete      of this very version, which only this pipeline writes
 *     X             Y           set         X's build ended in this turn, and Y's begins
 */
import { changesText } from '../../model/about-item.ts';
import { isOpen } from '../../model/build.ts';
import { semaphoreHolderCodec } from '../../model/codec/records.ts';
import type { PipelineState } from '../../model/pipeline-state.ts';
import type { QueueItem } from '../../model/queue-item.ts';
import type { SemaphoreHolder } from '../../model/semaphore.ts';
import { create, type Operation, remove, set } from '../../store/port.ts';
import { holderIn, slotPath } from '../../store/semaphore-slots.ts';
import type { ChangedTurn } from './changed-items.ts';
import type { PipelineContext } from './pipeline-context.ts';

/** `guards` may fail because of others, `own` may not. */
export interface SemaphoreOperations {
  readonly guards: readonly Operation[];
  readonly own: readonly Operation[];
}

type Slots = ReadonlyMap<string, SemaphoreHolder>;

/** Reads the slots that are left: one that is not ours any more (an operator removed it) stays as it is. */
export async function semaphoreOperations(
  before: PipelineState,
  { changed: items, left }: Pick<ChangedTurn, 'changed' | 'left'>,
  context: Pick<PipelineContext, 'store' | 'paths' | 'log'>,
): Promise<SemaphoreOperations> {
  const known = [...items, ...left].flatMap(({ uuid }) => before.items.get(uuid) ?? []);
  const old = slotsOf(known, context);
  const now = slotsOf(items, context);
  const changed = [...old].filter(([path, { build }]) => now.get(path)?.build !== build);
  const guards = [...now]
    .filter(([path]) => !old.has(path))
    .map(([path, holder]) => create(path, semaphoreHolderCodec.encode(holder)));
  if (changed.length === 0) return { guards, own: [] };
  const nodes = await context.store.getMany(changed.map(([path]) => path));
  const own: Operation[] = [];
  for (const [index, [path, holder]] of changed.entries()) {
    const node = nodes[index];
    const next = now.get(path);
    const stored = node === undefined ? undefined : holderIn(node.data);
    if (node === undefined || (stored !== undefined && stored.build !== holder.build)) {
      context.log.error(
        { path, build: holder.build },
        'a build ends that did not hold its semaphore any more',
      );
      if (next !== undefined && node === undefined)
        guards.push(create(path, semaphoreHolderCodec.encode(next)));
      continue;
    }
    const { version } = node.stat;
    own.push(
      next === undefined ? remove(path, version) : set(path, semaphoreHolderCodec.encode(next), version),
    );
  }
  return { guards, own };
}

/** Slots of open builds, by path. */
function slotsOf(items: readonly QueueItem[], { paths }: Pick<PipelineContext, 'paths'>): Slots {
  return new Map(items.flatMap(item => [...slotsOfItem(item, paths)]));
}

function* slotsOfItem(
  item: QueueItem,
  paths: PipelineContext['paths'],
): Generator<readonly [string, SemaphoreHolder]> {
  const { tenant, pipeline, uuid, buildset } = item;
  for (const build of buildset.builds) {
    if (!isOpen(build)) continue;
    for (const hold of build.semaphores ?? []) {
      const holder = {
        ...{ tenant, pipeline, item: uuid, buildset: buildset.uuid, build: build.uuid, job: build.job },
        change: changesText(item),
        since: build.requestedAt,
      };
      yield [slotPath(paths, tenant, hold), holder];
    }
  }
}
