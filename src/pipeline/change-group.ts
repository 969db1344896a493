/**
 * What enters as one item: one change or, where the queue allows it, changes that depend on each other (a cycle).
 *
 * Its members merge together or not at all. They are in a fixed order, whichever of them the event is about: each after those that its
 * commit is built on, and otherwise by their keys. The first one stands for all ({@link import('../model/about-item.ts').leadChange}).
 */
import { type ChangeKey, changeText } from '../model/change.ts';
import type { ChangeFacts } from './turn.ts';

/** Never empty. Compared by its members. */
export type ChangeGroup = readonly [ChangeFacts, ...ChangeFacts[]];

/** The same order in every scheduler; 9 before 10. */
const { compare } = new Intl.Collator('en', { numeric: true });

/** @param members not empty. @throws Error when they are. */
export function changeGroup(members: readonly ChangeFacts[]): ChangeGroup {
  const [first, ...rest] = parentsFirst(members.toSorted((a, b) => compareKeys(keyOf(a), keyOf(b))));
  if (first === undefined) throw new Error('a group without a change');
  return [first, ...rest];
}

/** Depth first, without recursion: a topic may be one long series. */
function parentsFirst(sorted: readonly ChangeFacts[]): readonly ChangeFacts[] {
  const left = new Map(sorted.map(facts => [keyOf(facts), facts]));
  const ordered: ChangeFacts[] = [];
  for (const root of sorted) {
    const path = [root];
    for (let facts = path.at(-1); facts !== undefined; facts = path.at(-1)) {
      // No commit is built on itself; a host that says so must not keep us here.
      const parent = (facts.record.builtOn ?? [])
        .map(key => left.get(key))
        .find(each => each !== undefined && !path.includes(each));
      if (parent !== undefined) {
        path.push(parent);
        continue;
      }
      path.pop();
      if (left.delete(keyOf(facts))) ordered.push(facts);
    }
  }
  return ordered;
}

function compareKeys(a: ChangeKey, b: ChangeKey): number {
  return compare(a, b) || (a < b ? -1 : 1);
}

function keyOf({ record }: ChangeFacts): ChangeKey {
  return record.change.key;
}

/** Whether the change is one of the group. */
export function isMember(group: ChangeGroup, key: ChangeKey): boolean {
  return group.some(facts => keyOf(facts) === key);
}

/** For people: `acme/app 1,2 + acme/lib 7,1`. */
export function groupText(group: ChangeGroup): string {
  return group.map(({ record }) => changeText(record.change)).join(' + ');
}
