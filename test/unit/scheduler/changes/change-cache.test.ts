import { expect, test } from 'vitest';
import type { ChangeRecord } from '../../../../src/model/change.ts';
import { changeRecordCodec } from '../../../../src/model/codec/records.ts';
import { type ChangeCache, openChangeCache } from '../../../../src/scheduler/changes/change-cache.ts';
import { ensureNode } from '../../../../src/store/ensure-node.ts';
import { create, remove, type Store } from '../../../../src/store/port.ts';
import { newerRecord } from '../../../fake/newer-record.ts';
import { proposedChange } from '../../../fake/queue-item.ts';
import { FaultyStore } from '../../store/faulty-store.ts';
import { openStand, type Stand } from '../stand.ts';

async function open(stand: Stand, store: Store, errors: unknown[] = []): Promise<ChangeCache> {
  await ensureNode(stand.store, stand.paths.changeCache('local'));
  return openChangeCache(['local'], store, stand.paths, error => errors.push(error));
}

function record(stand: Stand, id: string, status: ChangeRecord['status'] = 'open'): ChangeRecord {
  const rest = { dependsOn: [], unresolvedDependencies: [], facts: {} };
  return { change: proposedChange(id), status, ...rest, fetchedAt: stand.clock.now() };
}

test('what one scheduler writes another one knows as soon as it can read anything written later', async () => {
  await using stand = openStand();
  const other = stand.connect();
  using mine = await open(stand, stand.store);
  using theirs = await open(stand, other);
  const first = record(stand, 'master/a');
  await stand.store.multi(mine.operations([first]));
  mine.remember([first]);
  await other.get('/gatehouse');
  await theirs.fresh();
  expect(theirs.record(first.change.key)).toEqual(first);
});

test('it is known who needs a change, until that closes or needs it no more', async () => {
  await using stand = openStand();
  using cache = await open(stand, stand.store);
  const base = record(stand, 'master/base');
  const { key } = base.change;
  const write = async (...records: ChangeRecord[]) => {
    await stand.store.multi(cache.operations(records));
    cache.remember(records);
  };
  const [a, b] = [record(stand, 'master/a'), record(stand, 'master/b')];
  await write(base, { ...a, dependsOn: [key] }, { ...b, dependsOn: [key] });
  expect(cache.dependentsOf(key)).toEqual([a.change.key, b.change.key]);
  await write({ ...a, dependsOn: [] });
  expect(cache.dependentsOf(key)).toEqual([b.change.key]);
  await write({ ...b, dependsOn: [key], status: 'merged' });
  expect(cache.dependentsOf(key)).toEqual([]);
  await write({ ...b, dependsOn: [key] });
  expect(cache.dependentsOf(key)).toEqual([b.change.key]);
  const mark = cache.mark();
  await stand.store.multi(cache.forget([b.change.key]));
  await cache.fresh();
  expect(cache.dependentsOf(key)).toEqual([]);
  expect(cache.mark()).toBeGreaterThan(mark);
});

test('an unseen record is not overwritten', async () => {
  await using stand = openStand();
  const other = stand.connect();
  using mine = await open(stand, stand.store);
  using theirs = await open(stand, other);
  const first = record(stand, 'master/a');
  const late = theirs.operations([{ ...first, status: 'merged' }]);
  await stand.store.multi(mine.operations([first]));
  mine.remember([first]);
  const error = await other.multi(late).catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ code: 'NodeExists' });
  expect(await theirs.conflict(error)).toBe(true);
  await other.multi(theirs.operations([{ ...first, status: 'merged' }]));
  const stale = await stand.store.multi(mine.operations([first])).catch((thrown: unknown) => thrown);
  expect(stale).toMatchObject({ code: 'BadVersion' });
  expect(await mine.conflict(stale)).toBe(true);
  expect(mine.record(first.change.key)?.status).toBe('merged');
  expect(await mine.conflict(new Error('something else'))).toBe(false);
});

test('a commit that was read before its writer remembers it is remembered at the version it has', async () => {
  await using stand = openStand();
  using cache = await open(stand, stand.store);
  for (const status of ['open', 'merged', 'abandoned'] as const) {
    const next = record(stand, 'master/a', status);
    await stand.store.multi(cache.operations([next]));
    await stand.store.get('/gatehouse');
    await cache.fresh();
    expect(cache.record(next.change.key)?.status).toBe(status);
    cache.remember([next]);
  }
});

test('what is written while a host is asked shows', async () => {
  await using stand = openStand();
  using cache = await open(stand, stand.store);
  const first = record(stand, 'master/a');
  const mark = cache.mark();
  expect(cache.changedSince(mark, [first.change.key])).toBe(false);
  await stand.store.multi(cache.operations([first]));
  cache.remember([first]);
  expect(cache.changedSince(mark, [first.change.key])).toBe(true);
  await cache.fresh();
  expect(cache.changedSince(cache.mark(), [first.change.key])).toBe(false);
});

test('a record that was written since is not forgotten', async () => {
  await using stand = openStand();
  const other = stand.connect();
  using mine = await open(stand, stand.store);
  const first = record(stand, 'master/a', 'merged');
  await stand.store.multi(mine.operations([first]));
  mine.remember([first]);
  const old = mine.forget([first.change.key]);
  using theirs = await open(stand, other);
  await other.multi(theirs.operations([{ ...first, status: 'open' }]));
  await expect(stand.store.multi(old)).rejects.toThrow('BadVersion');
});

test('what was missed out of contact is read before anything is decided again', async () => {
  await using stand = openStand();
  const faulty = new FaultyStore(stand.connect());
  using mine = await open(stand, stand.store);
  using theirs = await open(stand, faulty);
  const [first, second] = [record(stand, 'master/a'), record(stand, 'master/b')];
  await stand.store.multi(mine.operations([first]));
  mine.remember([first]);
  await theirs.fresh();
  faulty.suspend();
  await stand.store.multi([...mine.operations([second]), ...mine.forget([first.change.key])]);
  faulty.resume();
  await theirs.fresh();
  expect([...theirs.all()].map(({ change }) => change.key)).toEqual([second.change.key]);
});

test('a record of a newer version neither keeps a scheduler from starting nor lets it decide', async () => {
  await using stand = openStand();
  const { paths, store } = stand;
  const newer = paths.cachedChange('local', record(stand, 'master/b').change.key);
  await ensureNode(store, paths.changeCache('local'));
  await store.multi([create(newer, newerRecord(changeRecordCodec))]);
  using cache = await open(stand, store);
  for (let asked = 0; asked < 3; asked++) await expect(cache.fresh()).rejects.toThrow(newer);
  await store.multi([remove(newer)]);
  await cache.fresh();
});
