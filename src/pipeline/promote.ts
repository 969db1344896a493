/**
 * Promotion: the named items go to the head of their queue, in the order given, each with the items that it depends on ahead of it.
 * The pass then resets what is tested with other items than before, with the cause `promoted`.
 *
 *     A B C D, promote D C   →   D C A B
 *     the same, C needs B    →   D B C A
 *     A is being reported    →   A D C B: the host may have landed it already
 *
 * As in Zuul's promote. Unlike there, items keep their traces, items that are in place keep their builds, and a change that is not in the
 * pipeline does not keep the others from being promoted: it may have landed since the request.
 */
import type { Uuid } from '../lib/ids.ts';
import { aboutItem, changesText } from '../model/about-item.ts';
import type { ChangeKey } from '../model/change.ts';
import type { PipelineEvent } from '../model/event.ts';
import type { QueueItem } from '../model/queue-item.ts';
import { isUnsettled } from './host-wait.ts';
import type { QueueDraft } from './queue-draft.ts';
import { operator } from './remover.ts';
import { withEvent } from './timeline.ts';
import type { TurnDraft } from './turn-draft.ts';

type Promote = Extract<PipelineEvent, { readonly kind: 'promote' }>;

/** Each named item gets a decision: that it was promoted, or why not. */
export function applyPromote(draft: TurnDraft, event: Promote): void {
  const named = new Set(event.changes.flatMap(key => draft.liveItems(key)).map(({ uuid }) => uuid));
  if (!draft.manager.promotes) {
    const why = `only items of dependent pipelines can be promoted, and ${draft.input.pipeline.name} is ${draft.input.pipeline.manager}`;
    for (const uuid of named) refuse(draft, event, uuid, why);
    return;
  }
  for (const queue of draft.queues.all()) {
    const wanted = [...named].filter(uuid => draft.item(uuid)?.queue === queue.key);
    if (wanted.length > 0) promoteIn(draft, queue, wanted, event);
  }
}

function promoteIn(draft: TurnDraft, queue: QueueDraft, wanted: readonly Uuid[], event: Promote): void {
  const gone = queue.items.filter(uuid => draft.item(uuid) === undefined);
  const { blocks, behind } = blocksOf(draft, queue);
  const fixed = blocks.slice(0, blocks.findLastIndex(({ item }) => isDecidedAtHost(draft, item)) + 1);
  const movable = blocks.slice(fixed.length);
  const first = inOrder(movable, wanted);
  const order = [...first, ...movable.filter(block => !first.has(block))];
  const begin = order.findIndex((block, index) => block !== movable[index]);
  if (begin >= 0) {
    const present = [...fixed, ...order].flatMap(({ uuids }) => uuids);
    queue.arrange([...gone, ...present, ...behind]);
    for (const { item } of order.slice(begin)) draft.reordered.add(item.uuid);
  }
  const places = new Map(movable.map((block, index) => [block, fixed.length + index + 1]));
  for (const [index, block] of [...first].entries()) {
    const to = fixed.length + index + 1;
    const from = places.get(block) ?? to;
    if (from > to) promote(draft, queue, block.item, { from, to }, event);
  }
  for (const uuid of wanted)
    if (!draft.promoted.has(uuid)) refuse(draft, event, uuid, 'it is as far ahead as it can be');
}

function promote(
  draft: TurnDraft,
  queue: QueueDraft,
  item: QueueItem,
  { from, to }: { readonly from: number; readonly to: number },
  event: Promote,
): void {
  draft.promoted.set(item.uuid, operator(event));
  draft.put(withEvent(item, { at: draft.input.now, name: 'promoted', facts: { by: event.by, from, to } }));
  draft.decide(
    'promoted',
    aboutItem(item, event.uuid),
    `${changesText(item)} went from place ${from} to place ${to} of queue ${queue.name}: promoted by ${event.by}`,
  );
}

function refuse(draft: TurnDraft, { uuid: event, by }: Promote, uuid: Uuid, why: string): void {
  const item = draft.item(uuid);
  if (item !== undefined)
    draft.decide('event-refused', aboutItem(item, event), `${by} asked to promote it: ${why}`);
}

/** The host is landing it, or may have: what is behind was tested with it and stays behind it. */
function isDecidedAtHost(draft: TurnDraft, item: QueueItem): boolean {
  return item.phase.phase === 'reporting' || isUnsettled(draft, item);
}

/** A live item with the items ahead that hold places for it: they move together. */
interface Block {
  readonly item: QueueItem;
  readonly uuids: readonly Uuid[];
}

/** @returns `behind`: items that hold a place for no live one any more; the pass drops them. */
function blocksOf(
  draft: TurnDraft,
  queue: QueueDraft,
): { readonly blocks: readonly Block[]; readonly behind: readonly Uuid[] } {
  const blocks: Block[] = [];
  let held: Uuid[] = [];
  for (const uuid of queue.items) {
    const item = draft.item(uuid);
    if (item === undefined) continue;
    held.push(uuid);
    if (item.role === 'dependency') continue;
    blocks.push({ item, uuids: held });
    held = [];
  }
  return { blocks, behind: held };
}

/** The wanted ones, each behind those of `movable` that it depends on; these are ahead of it there, too. */
function inOrder(movable: readonly Block[], wanted: readonly Uuid[]): ReadonlySet<Block> {
  const ordered = new Set<Block>();
  for (const uuid of wanted) {
    const at = movable.findIndex(({ item }) => item.uuid === uuid);
    const needed = new Set<ChangeKey>();
    const group: Block[] = [];
    for (const block of movable.slice(0, at + 1).toReversed()) {
      const { item } = block;
      if (item.uuid !== uuid && !item.changes.some(({ key }) => needed.has(key))) continue;
      for (const key of item.dependsOn) needed.add(key);
      group.unshift(block);
    }
    for (const block of group) ordered.add(block);
  }
  return ordered;
}
