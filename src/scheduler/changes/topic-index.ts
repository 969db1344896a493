/** Open changes by their topic. */
import { type ChangeKey, type ChangeRecord, connectionOfKey, MOST_OF_TOPIC } from '../../model/change.ts';

/** The same order in every scheduler; 9 before 10. */
const { compare } = new Intl.Collator('en', { numeric: true });

/** In memory; a topic is one of its connection. */
export interface TopicIndex {
  /** @param before the record of the same change so far. */
  set(before: ChangeRecord | undefined, after: ChangeRecord | undefined): void;
  /** Itself among them, in a fixed order. Null: more than {@link MOST_OF_TOPIC}, which costs no more than one. */
  of(record: ChangeRecord): readonly ChangeKey[] | null;
}

interface Topic {
  readonly changes: Set<ChangeKey>;
  /** Of `changes`, made when it is asked for. */
  sorted: readonly ChangeKey[] | undefined;
}

export function createTopicIndex(): TopicIndex {
  const topics = new Map<string, Topic>();
  return {
    set(before, after) {
      const [old, now] = [placeOf(before), placeOf(after)];
      if (old === now) return;
      const left = topics.get(old ?? '');
      if (before !== undefined && left !== undefined) {
        left.changes.delete(before.change.key);
        left.sorted = undefined;
        if (left.changes.size === 0) topics.delete(old ?? '');
      }
      if (after === undefined || now === undefined) return;
      const topic = topics.get(now) ?? { changes: new Set(), sorted: undefined };
      topic.changes.add(after.change.key);
      topic.sorted = undefined;
      topics.set(now, topic);
    },
    of(record) {
      const topic = topics.get(placeOf(record) ?? '');
      if (topic === undefined) return [record.change.key];
      if (topic.changes.size > MOST_OF_TOPIC) return null;
      topic.sorted ??= [...topic.changes].sort((a, b) => compare(a, b) || (a < b ? -1 : 1));
      return topic.sorted;
    },
  };
}

/** Undefined: the change is of no topic, or closed. */
function placeOf(record: ChangeRecord | undefined): string | undefined {
  if (record?.topic === undefined || record.status !== 'open') return undefined;
  return `${connectionOfKey(record.change.key)} ${record.topic.name}`;
}
