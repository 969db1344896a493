/** Changes land while a slow host is read: what was read is not thrown away for that. */
import { expect, test } from 'vitest';
import type { ProcessedEvent } from '../../../../src/driver/source.ts';
import type { ChangeRecord, ChangeStatus } from '../../../../src/model/change.ts';
import type { ConnectionEvent } from '../../../../src/model/event.ts';
import { openChangeCache } from '../../../../src/scheduler/changes/change-cache.ts';
import { proposedChange } from '../../../fake/queue-item.ts';
import { eventually, openStand, type Stand } from '../stand.ts';
import { NOTHING, openConnection, trigger } from './connection-stand.ts';

const NAMES = Array.from({ length: 8 }, (_, index) => `master/change-${index}`);

/** A host of one repository: each read is about all its changes, and is answered when the test says. */
async function openSlowHost(stand: Stand) {
  const recordOf = (name: string, status: ChangeStatus = 'open', seed = name): ChangeRecord => ({
    change: proposedChange(name, seed),
    status,
    dependsOn: [],
    unresolvedDependencies: [],
    facts: {},
    fetchedAt: stand.clock.now(),
  });
  const connection = await openConnection(stand);
  let looks = 0;
  let open: ((outcome: ProcessedEvent) => void) | undefined;
  let asked: ConnectionEvent | undefined;
  const holder = await connection.hold({
    process: event =>
      new Promise(resolve => {
        looks += 1;
        [asked, open] = [event, resolve];
      }),
  });
  // The pipelines' holder is another process.
  const session = stand.connect();
  const others = await openChangeCache(['local'], session, stand.paths, error =>
    expect.unreachable(`${error}`),
  );
  return {
    ...connection,
    holder,
    recordOf,
    looks: () => looks,
    isAsked: (times: number) =>
      eventually(async () => looks === times && open !== undefined, `look ${times}`),
    async writes(record: ChangeRecord): Promise<void> {
      await others.fresh();
      await session.multi(others.operations([record]));
      others.remember([record]);
    },
    /** As the host was when it was asked. */
    answers(records: readonly ChangeRecord[]): void {
      const event = asked ?? expect.unreachable('the host is not asked');
      open?.({ ...NOTHING, events: [trigger(event, event.deliveryId)], changes: records });
      open = undefined;
    },
    async end(): Promise<void> {
      await holder.end();
      others[Symbol.dispose]();
    },
  };
}

test('a host that is read while changes land is read once for each event, and what landed stays landed', async () => {
  await using stand = openStand();
  const host = await openSlowHost(stand);
  const seen = NAMES.map(name => host.recordOf(name));
  await stand.store.multi(host.holder.changes.operations(seen));
  for (const [index, name] of NAMES.entries()) {
    await host.offer(`delivery-${index}`);
    await host.isAsked(index + 1);
    await host.writes(host.recordOf(name, 'merged'));
    host.answers(seen.map((record, at) => (at < index ? { ...record, status: 'merged' } : record)));
    await eventually(async () => (await host.tenantQueue.depth()) === index + 1, 'it is handed on');
  }
  expect(host.looks()).toBe(NAMES.length);
  await host.holder.changes.fresh();
  expect(seen.map(({ change }) => host.holder.changes.record(change.key)?.status)).toEqual(
    NAMES.map(() => 'merged'),
  );
  await host.end();
});

test.each([
  ['it has another revision', 'open', 'pushed-since'],
  ['it was abandoned', 'abandoned', NAMES[0]],
  ['another revision of it has landed', 'merged', 'pushed-since'],
] as const)('a host is read again when a change was written meanwhile: %s', async (_, status, seed) => {
  await using stand = openStand();
  const host = await openSlowHost(stand);
  const [name = ''] = NAMES;
  const before = host.recordOf(name);
  const written = host.recordOf(name, status, seed);
  await stand.store.multi(host.holder.changes.operations([before]));
  await host.offer('delivery');
  await host.isAsked(1);
  await host.writes(written);
  host.answers([before]);
  await host.isAsked(2);
  host.answers([written]);
  await eventually(async () => (await host.tenantQueue.depth()) === 1, 'it is handed on');
  expect(host.holder.changes.record(before.change.key)).toEqual(written);
  await host.end();
});
