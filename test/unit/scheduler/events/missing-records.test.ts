import { describe, expect, it } from 'vitest';
import type { Connection } from '../../../../src/driver/connection.ts';
import { type Nanoseconds, parseNanoseconds } from '../../../../src/lib/clock.ts';
import { type ChangeKey, type ChangeRecord, changeKey } from '../../../../src/model/change.ts';
import { parseCommitId, projectKey } from '../../../../src/model/project.ts';
import { type MissingRecordsDeps, missingRecords } from '../../../../src/scheduler/events/missing-records.ts';

const EVENT = parseNanoseconds('2000');
const signal = new AbortController().signal;

function recordOf(
  project: string,
  id: string,
  dependsOn: readonly ChangeRecord[],
  more: Partial<ChangeRecord> = {},
): ChangeRecord {
  const key = projectKey({ connection: 'local', name: project });
  const commit = parseCommitId('a'.repeat(40));
  return {
    change: {
      kind: 'change',
      key: changeKey(key, id),
      project: key,
      branch: 'master',
      id,
      patchset: '1',
      commit,
      ref: `refs/heads/for/${id}`,
      subject: id,
    },
    status: 'open',
    dependsOn: dependsOn.map(each => each.change.key),
    unresolvedDependencies: [],
    facts: {},
    fetchedAt: parseNanoseconds('1000'),
    ...more,
  };
}

function world(known: readonly ChangeRecord[], host: (key: ChangeKey) => Promise<ChangeRecord | undefined>) {
  const asked: ChangeKey[] = [];
  const warnings: string[] = [];
  const written = new Set<ChangeKey>();
  const records = new Map(known.map(record => [record.change.key, record]));
  const source = {
    fetchChange: (key: ChangeKey) => {
      asked.push(key);
      return host(key);
    },
  } as Partial<Connection['source']>;
  const deps: MissingRecordsDeps = {
    changes: {
      record: key => records.get(key),
      fresh: async () => {},
      mark: () => 0,
      changedSince: (_, keys) => keys.some(key => written.has(key)),
    },
    connections: new Map([['local', { source } as Connection]]),
    dependencies: { resolve: async record => record },
    topics: { membersOf: async () => null },
    clock: { now: () => '3000' as Nanoseconds },
    log: { warn: (_, text) => void warnings.push(text) },
  };
  return { deps, asked, warnings, written };
}

const away = () => Promise.reject(Object.assign(new Error('the host is away'), { retryable: true }));

describe('what a change depends on', () => {
  const base = recordOf('lib', 'base', []);
  const other = recordOf('lib', 'other', [base]);
  const own = recordOf('app', 'own', []);
  const root = recordOf('app', 'root', [own, other]);
  const approved = (record: ChangeRecord) => ({ ...record, facts: { approved: true } });

  it('is asked for again where it is in another project, transitively', async () => {
    const { deps, asked } = world([root, own, other, base], async key =>
      approved(key === base.change.key ? base : other),
    );
    const { records, queries } = await missingRecords(root.change, EVENT, deps, signal);
    expect(asked).toEqual([other.change.key, base.change.key]);
    expect(records).toEqual([approved(other), approved(base)]);
    expect(queries.length).toBe(2);
  });

  it('is not asked for when it was learnt after the event, or is closed', async () => {
    const later = recordOf('lib', 'later', [], { fetchedAt: parseNanoseconds('2500') });
    const merged = recordOf('lib', 'merged', [], { status: 'merged' });
    const change = recordOf('app', 'root', [later, merged]);
    const { deps, asked } = world([change, later, merged], away);
    await missingRecords(change.change, EVENT, deps, signal);
    expect(asked).toEqual([]);
  });

  it('keeps its known record where the host is away or has it no more; an unknown change waits for the host', async () => {
    const { deps, warnings } = world([root, own, other, base], key =>
      key === base.change.key ? Promise.resolve(undefined) : away(),
    );
    expect((await missingRecords(root.change, EVENT, deps, signal)).records).toEqual([]);
    expect(warnings.length).toBe(1);
    const unknown = world([root, own], away);
    await expect(missingRecords(root.change, EVENT, unknown.deps, signal)).rejects.toThrow('away');
  });

  it('is not overwritten by an answer older than a landing', async () => {
    const { deps, written } = world([root, own, other, base], async key => {
      written.add(key);
      return approved(other);
    });
    expect((await missingRecords(root.change, EVENT, deps, signal)).records).toEqual([]);
  });

  it('is fetched a bounded number of times, for any number of lines', async () => {
    const many = Array.from({ length: 150 }, (_, index) => recordOf('lib', `l${index}`, []));
    const change = recordOf('app', 'root', many);
    const { deps, asked } = world([change, ...many], async () => undefined);
    await missingRecords(change.change, EVENT, deps, signal);
    expect(asked.length).toBe(40);
  });
});
