/** What became of changes, read where people would look: votes and messages at Gerrit, decisions, items, resets. */
import type { FinishedItem, LiveItem } from '../../../src/api/live-item.ts';
import { type FakeChange, votesOn } from '../fake/world.ts';
import type { GerritWorld } from './gerrit-world.ts';

/** What our account votes on the current patch set; undefined: nothing, or 0. */
export function verified({ now }: FakeChange): number | undefined {
  return votesOn(now).find(({ label, by }) => label === 'Verified' && by.username === 'gatehouse')?.value;
}

/** Texts of our account's messages, oldest first. */
export function ourMessages({ now }: FakeChange): readonly string[] {
  return now.messages.filter(({ author }) => author?.username === 'gatehouse').map(({ text }) => text);
}

/** All items of a change, live ones first. */
export async function itemsOf(
  world: GerritWorld,
  { number, project }: FakeChange,
  pipeline: string,
): Promise<readonly (LiveItem | FinishedItem)[]> {
  const all = [...world.observer.items(), ...(await world.observer.finished())];
  const found = all.filter(
    item =>
      item.pipeline === pipeline &&
      item.changes.some(each => each.name === String(number) && each.project === project.name),
  );
  return [...new Map(found.map(item => [item.uuid, item])).values()];
}
