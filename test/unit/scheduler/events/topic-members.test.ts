import { describe, expect, it } from 'vitest';
import { type Nanoseconds, parseNanoseconds } from '../../../../src/lib/clock.ts';
import { type ChangeKey, type ChangeRecord, changeKey, MOST_OF_TOPIC } from '../../../../src/model/change.ts';
import { parseCommitId, projectKey } from '../../../../src/model/project.ts';
import { missingRecords } from '../../../../src/scheduler/events/missing-records.ts';
import { createTopicQuestions } from '../../../../src/scheduler/events/topic-members.ts';

const EVENT = parseNanoseconds('2000');
const signal = new AbortController().signal;

function recordOf(id: string, topic: string | null): ChangeRecord {
  const project = projectKey({ connection: 'local', name: 'acme/app' });
  return {
    change: {
      ...{ kind: 'change', key: changeKey(project, id), project, branch: 'master', id, patchset: '1' },
      ...{ commit: parseCommitId('a'.repeat(40)), ref: `refs/changes/${id}`, subject: id },
    },
    ...{ status: 'open', dependsOn: [], unresolvedDependencies: [], facts: {} },
    fetchedAt: parseNanoseconds('1000'),
    ...(topic === null ? {} : { topic: { name: topic, landsWhole: false } }),
  };
}

/** @param members what the host says of any topic; null: it is away. */
function world(known: readonly ChangeRecord[], members: readonly ChangeRecord[] | null, counts = true) {
  const calls: string[] = [];
  const clock = { time: 3_000, now: () => String(clock.time++) as Nanoseconds };
  const keys = (members ?? []).map(({ change }) => change.key);
  const source = {
    async fetchChange(key: ChangeKey) {
      calls.push(`change ${key.slice(-1)}`);
      return members?.find(({ change }) => change.key === key);
    },
    async changesOfTopic(topic: string, most: number) {
      calls.push(`topic ${topic}`);
      if (members === null) throw Object.assign(new Error('the host is away'), { retryable: true });
      return { changes: keys.slice(0, most), isMore: keys.length > most };
    },
  };
  const connections = new Map([['local', { source }]]);
  const topics = createTopicQuestions({ connections, clock, counts: () => counts });
  const records = new Map(known.map(record => [record.change.key, record]));
  const deps = {
    changes: {
      record: (key: ChangeKey) => records.get(key),
      fresh: async () => {},
      mark: () => 0,
      changedSince: () => false,
    },
    ...{ connections, topics, clock },
    dependencies: { resolve: async (record: ChangeRecord) => record },
    log: { warn: () => {} },
  } as never;
  const ask = (record: ChangeRecord, since = EVENT) => missingRecords(record.change, since, deps, signal);
  return { calls, clock, ask };
}

describe('the topic of a change', () => {
  const [own, other] = [recordOf('1', 'login'), recordOf('2', 'login')];

  it('is asked for, and changes that are not known are read', async () => {
    const { calls, ask } = world([own], [own, other]);
    const { records, queries } = await ask(own);
    expect(calls).toEqual(['topic login', 'change 2']);
    expect(records.map(({ change }) => change.key)).toEqual([other.change.key]);
    expect(queries.map(({ facts }) => facts?.query)).toEqual(['topic', 'change']);
  });

  it('is asked for once for all events that came in before', async () => {
    const { calls, clock, ask } = world([own, other], [own, other]);
    await ask(own);
    await ask(other);
    expect(calls).toEqual(['topic login']);
    await ask(own, clock.now());
    expect(calls).toEqual(['topic login', 'topic login']);
  });

  it('is not asked for where it does not count, or there is none', async () => {
    const counted = world([recordOf('3', null)], []);
    await counted.ask(recordOf('3', null));
    const uncounted = world([own], [own, other], false);
    await uncounted.ask(own);
    expect([...counted.calls, ...uncounted.calls]).toEqual([]);
  });

  it('costs one question when it is too large, and the change says so until it is not', async () => {
    const many = Array.from({ length: MOST_OF_TOPIC + 1 }, (_, at) => recordOf(String(at), 'login'));
    const { calls, ask } = world([own], many);
    const { records } = await ask(own);
    expect(calls).toEqual(['topic login']);
    const marked = { ...own, topic: { name: 'login', landsWhole: false, isTooLarge: true } as const };
    expect(records).toEqual([marked]);
    expect((await world([marked, other], [own, other]).ask(marked)).records).toEqual([own]);
  });

  it('makes the event wait where the host is away', async () => {
    await expect(world([own], null).ask(own)).rejects.toThrow('away');
  });
});
