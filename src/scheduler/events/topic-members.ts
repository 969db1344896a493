/**
 * Asks hosts which open changes a topic has: the change cache knows those that an event was about.
 *
 * One question serves all events that came in before it was asked: when a hundred changes of one topic are pushed at once, that is one
 * or two questions. Answers are kept in the memory of the tenant's holder only.
 */
import type { Connection } from '../../driver/connection.ts';
import type { Clock, Nanoseconds } from '../../lib/clock.ts';
import { type ChangeKey, type ChangeRecord, connectionOfKey, MOST_OF_TOPIC } from '../../model/change.ts';
import type { ConnectionName } from '../../model/project.ts';

/** What the host said. */
export interface TopicMembers {
  /** Empty when there are too many for one item. */
  readonly changes: readonly ChangeKey[];
  readonly isTooLarge: boolean;
  /** Between these times the host was asked; null: an earlier question is new enough. */
  readonly asked: { readonly startedAt: Nanoseconds; readonly endedAt: Nanoseconds } | null;
}

/** Of one tenant. */
export interface TopicQuestions {
  /**
   * Null: changes of its topic do not belong to the change in this tenant, or its host has no topics.
   *
   * @param since an answer that was asked for before is too old.
   * @throws when the host does not serve.
   */
  membersOf(record: ChangeRecord, since: Nanoseconds, signal: AbortSignal): Promise<TopicMembers | null>;
}

type Answer = Omit<TopicMembers, 'asked'> & { readonly askedAt: Nanoseconds };

/** `counts`: whether the changes of its topic belong to a change. */
export interface TopicQuestionsDeps {
  readonly connections: ReadonlyMap<
    ConnectionName,
    { readonly source: Pick<Connection['source'], 'changesOfTopic'> }
  >;
  readonly clock: Pick<Clock, 'now'>;
  counts(record: ChangeRecord): boolean;
}

/** Topics whose answers are kept. */
const KEPT = 500;

export function createTopicQuestions({ connections, clock, counts }: TopicQuestionsDeps): TopicQuestions {
  const answers = new Map<string, Answer>();
  const keep = (place: string, answer: Answer) => {
    answers.delete(place);
    answers.set(place, answer);
    const [oldest] = answers.keys();
    if (answers.size > KEPT && oldest !== undefined) answers.delete(oldest);
  };
  return {
    async membersOf(record, since, signal) {
      const { topic, status, change } = record;
      if (topic === undefined || status !== 'open' || !counts(record)) return null;
      const connection = connectionOfKey(change.key);
      const source = connections.get(connection)?.source;
      if (source?.changesOfTopic === undefined) return null;
      const place = `${connection} ${topic.name}`;
      const known = answers.get(place);
      if (known !== undefined && BigInt(known.askedAt) >= BigInt(since)) return { ...known, asked: null };
      const startedAt = clock.now();
      const { changes, isMore } = await source.changesOfTopic(topic.name, MOST_OF_TOPIC, signal);
      const answer = { changes: isMore ? [] : changes, isTooLarge: isMore };
      keep(place, { ...answer, askedAt: startedAt });
      return { ...answer, asked: { startedAt, endedAt: clock.now() } };
    },
  };
}
