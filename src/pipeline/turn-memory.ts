/**
 * What one turn of a pipeline leaves for the next, so that a turn costs what has happened and not what waits: which queues it has to
 * look at, and which facts it looked at them with. It is in memory only; a turn without it looks at everything, and decides the same.
 *
 * Why that is so: a turn that is called again without events and new facts changes nothing. A queue in which nothing happened in a whole
 * turn is such a case by itself, as long as no fact that it depends on is another one. Queues depend on each other only by what is
 * listed in due-queues.ts.
 */
import type { ChangeKey } from '../model/change.ts';
import type { QueueItem } from '../model/queue-item.ts';
import type { ItemIndex } from './item-index.ts';
import { neededBy } from './needed-by.ts';
import type { ChangeFacts, TurnInput, TurnMemory } from './turn.ts';

export function rulesOf(input: TurnInput): TurnMemory['rules'] {
  const { tenant, pipeline, layoutVersion, retired, shadowMode } = input;
  return {
    ...{ tenant, pipeline },
    ...(layoutVersion === undefined ? {} : { layoutVersion }),
    ...(retired === undefined ? {} : { retired }),
    ...(shadowMode === undefined ? {} : { shadowMode }),
  };
}

/** Null: it is of no use to this turn. */
export function usableMemory(input: TurnInput): TurnMemory | null {
  const { memory, state } = input;
  if (memory === undefined || memory.state !== state) return null;
  const { rules } = memory;
  const isSame =
    rules.tenant === input.tenant &&
    rules.pipeline === input.pipeline &&
    rules.layoutVersion === input.layoutVersion &&
    rules.retired === input.retired &&
    rules.shadowMode === input.shadowMode;
  return isSame ? memory : null;
}

/** Queues with an item whose facts are others now: those of its changes, of what it depends on, and of what these need, over any steps. */
export function queuesOfNewFacts(
  { state, changes }: TurnInput,
  before: TurnInput['changes'],
  index: () => ItemIndex,
): ReadonlySet<string> {
  const queues = new Set<string>();
  if (changes === before) return queues;
  const keys = withDependents(changedKeys(before, changes), changes);
  for (const key of keys)
    for (const uuid of index().about(key)) {
      const item = state.items.get(uuid);
      if (item !== undefined) queues.add(item.queue);
    }
  return queues;
}

function changedKeys(before: TurnInput['changes'], after: TurnInput['changes']): Set<ChangeKey> {
  const keys = new Set<ChangeKey>();
  for (const [key, facts] of after) if (before.get(key) !== facts) keys.add(key);
  // All of before are in after, or some are gone.
  if (before.size > after.size - keys.size)
    for (const key of before.keys()) if (!after.has(key)) keys.add(key);
  return keys;
}

/**
 * Adds all that need one of them, over any steps. The present facts are enough: a change that needed one of them before, and does not
 * now, has other facts itself, or what it needs has.
 */
function withDependents(keys: Set<ChangeKey>, changes: TurnInput['changes']): ReadonlySet<ChangeKey> {
  if (keys.size === 0) return keys;
  const users = new Map<ChangeKey, ChangeKey[]>();
  for (const [key, facts] of changes)
    if (hasNeeds(facts))
      for (const needed of neededBy(facts)) users.set(needed, [...(users.get(needed) ?? []), key]);
  const waiting = [...keys];
  for (let key = waiting.pop(); key !== undefined; key = waiting.pop())
    for (const user of users.get(key) ?? []) {
      if (keys.has(user)) continue;
      keys.add(user);
      waiting.push(user);
    }
  return keys;
}

function hasNeeds({ record, topic }: ChangeFacts): boolean {
  return record.dependsOn.length > 0 || topic !== undefined;
}

/** A job of it waits for what is outside its queue. */
export function waitsElsewhere({ buildset: { semaphoreWaits, requirementWaits } }: QueueItem): boolean {
  return isOpen(semaphoreWaits) || isOpen(requirementWaits);
}

function isOpen(waits: readonly { readonly ended: unknown }[] = []): boolean {
  return waits.some(({ ended }) => ended === null);
}
