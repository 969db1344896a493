import { describe, expect, it } from 'vitest';
import { parseNanoseconds } from '../../../../src/lib/clock.ts';
import { type ChangeRecord, changeKey, MOST_OF_TOPIC } from '../../../../src/model/change.ts';
import { parseCommitId, projectKey } from '../../../../src/model/project.ts';
import { createTopicIndex, type TopicIndex } from '../../../../src/scheduler/changes/topic-index.ts';

function recordOf(id: string, topic: string | null, more: Partial<ChangeRecord> = {}): ChangeRecord {
  const project = projectKey({ connection: 'local', name: 'acme/app' });
  return {
    change: {
      ...{ kind: 'change', key: changeKey(project, id), project, branch: 'master', id, patchset: '1' },
      ...{ commit: parseCommitId('a'.repeat(40)), ref: `refs/changes/${id}`, subject: id },
    },
    ...{ status: 'open', dependsOn: [], unresolvedDependencies: [], facts: {} },
    fetchedAt: parseNanoseconds('1000'),
    ...(topic === null ? {} : { topic: { name: topic, landsWhole: false } }),
    ...more,
  };
}

const idsOf = (index: TopicIndex, record: ChangeRecord) =>
  index.of(record)?.map(key => key.slice(key.indexOf('#') + 1)) ?? null;

describe('the index of topics', () => {
  it('has the open changes of each as they are now, 9 before 10', () => {
    const index = createTopicIndex();
    const [ten, nine, other] = [recordOf('10', 'a'), recordOf('9', 'a'), recordOf('1', 'b')];
    for (const record of [ten, nine, other]) index.set(undefined, record);
    expect(idsOf(index, ten)).toEqual(['9', '10']);
    const moved = recordOf('9', 'b');
    index.set(nine, moved);
    expect([idsOf(index, ten), idsOf(index, moved)]).toEqual([['10'], ['1', '9']]);
    index.set(moved, { ...moved, status: 'merged' });
    expect(idsOf(index, other)).toEqual(['1']);
    index.set(ten, undefined);
    expect(idsOf(index, recordOf('11', 'a'))).toEqual(['11']);
  });

  it('does not list one that is too large', () => {
    const index = createTopicIndex();
    const records = Array.from({ length: MOST_OF_TOPIC + 1 }, (_, at) => recordOf(String(at), 'a'));
    for (const record of records) index.set(undefined, record);
    const [first = recordOf('0', 'a')] = records;
    expect(index.of(first)).toBeNull();
    index.set(first, undefined);
    expect(index.of(recordOf('1', 'a'))).toHaveLength(MOST_OF_TOPIC);
  });
});
