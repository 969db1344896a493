/** Requests to hold hosts: which builds they are about, what becomes of hosts, and when they end. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { withHostsAfter } from '../../../src/executor/hosts/hold-hosts.ts';
import { derivedUuid, randomIds } from '../../../src/lib/ids.ts';
import { hostStateCodec } from '../../../src/model/codec/records.ts';
import { type HoldFilter, type HoldRequest, wantsBuild } from '../../../src/model/hold-request.ts';
import { askOperation, findHold, readHolds } from '../../../src/nodes/hold-requests.ts';
import { changeHostState } from '../../../src/nodes/host-state.ts';
import { releaseHolds } from '../../../src/scheduler/care/release-holds.ts';
import { openEmbeddedStore } from '../../../src/store/embedded/server.ts';
import { ensureNode } from '../../../src/store/ensure-node.ts';
import { storePaths } from '../../../src/store/paths.ts';
import { create, type Operation, remove, type Store } from '../../../src/store/port.ts';
import { SILENT } from '../../fake/silent-log.ts';
import { manualClock } from '../store/test-bench.ts';

const paths = storePaths();
const clock = manualClock();
const BUILD = derivedUuid('build');
const OTHER = derivedUuid('other');
let server: ReturnType<typeof openEmbeddedStore>;
let store: Store;
let stop: AbortController;

const failed = {
  ...{ tenant: 'acme', project: 'git.example.org/app', job: 'unit' },
  ...{ change: 'master/login', ref: 'refs/heads/for/master/login' },
};
const wanted = (filter: HoldFilter = { on: 'all' }, more: Partial<HoldRequest> = {}): HoldRequest => ({
  ...{ tenant: 'acme', project: 'git.example.org/app', job: 'unit', filter, reason: 'look', by: 'alice' },
  ...{ at: clock.now(), maxCount: 1, count: 0, expiration: 60, held: [] },
  ...more,
});

beforeEach(async () => {
  server = openEmbeddedStore({ file: ':memory:' });
  store = server.connect();
  stop = new AbortController();
  for (const path of [paths.holds, paths.hostStates]) await ensureNode(store, path);
});
afterEach(async () => {
  stop.abort();
  await server.close();
});

const place = () => ({ store, paths, clock });
const ask = (hold: HoldRequest) => store.multi([askOperation(place(), hold)]);
async function stateOf(host: string) {
  const node = await store.get(paths.hostState(host));
  return node === undefined ? undefined : hostStateCodec.decode(node.data);
}
const made = { node: 'web', host: 'cluster', made: true } as const;
const labels = new Map([['web', 'pod']]);
const grant = { at: clock.now(), hosts: [{ node: 'builder', host: 'one' }, made] };
async function end(build = BUILD): Promise<void> {
  const hold = await findHold(place(), failed);
  const write = (operations: readonly Operation[]) => store.multi(operations);
  await withHostsAfter(place(), hold === undefined ? {} : { hold }, { build, granted: grant, labels }, write);
}

test.each<[HoldFilter, boolean]>([
  [{ on: 'all' }, true],
  [{ on: 'change', change: 'master/login' }, true],
  [{ on: 'change', change: 'master/other' }, false],
  [{ on: 'ref', ref: 'refs/heads/for/.*' }, true],
  [{ on: 'ref', ref: 'heads/for' }, false],
])('a filter %j is about the build: %s', (filter, expected) => {
  expect(wantsBuild(wanted(filter), failed)).toBe(expected);
});

test('a request holds as many builds as it says, of its own tenant, project and job', () => {
  expect(wantsBuild(wanted({ on: 'all' }, { count: 1 }), failed)).toBe(false);
  expect(wantsBuild(wanted({ on: 'all' }, { maxCount: 2, count: 1 }), failed)).toBe(true);
  for (const other of [{ tenant: 'x' }, { project: 'x' }, { job: 'x' }])
    expect(wantsBuild(wanted(), { ...failed, ...other })).toBe(false);
});

test('hosts are held until it expires, then an executor has to clean them, and the request is gone', async () => {
  await ask(wanted());
  await end();
  const [stored] = await readHolds(place(), undefined);
  expect(stored?.hold).toMatchObject({ count: 1, held: [{ build: BUILD, hosts: ['one', 'cluster'] }] });
  // A provider serves others meanwhile.
  expect(await stateOf('cluster')).toEqual({
    kept: [{ request: stored?.id, build: BUILD, since: expect.any(String), labels: ['pod'] }],
  });
  expect(await stateOf('one')).toMatchObject({
    held: { reason: 'look', request: { id: stored?.id, build: BUILD } },
  });
  const fence = { commit: (operations: readonly Operation[]) => store.multi(operations) };
  const running = releaseHolds({ store, paths, clock, ids: randomIds(), log: SILENT }, fence, stop.signal);
  clock.advance(60_000);
  // The clock was set; with the next change it is noticed.
  await ask(wanted({ on: 'all' }, { job: 'other' }));
  await vi.waitFor(async () => expect((await stateOf('one'))?.held).toBeUndefined());
  expect(await stateOf('one')).toMatchObject({ trouble: { leftovers: [BUILD] } });
  expect(await stateOf('cluster')).toBeUndefined();
  expect((await readHolds(place(), undefined)).map(({ hold }) => hold.job)).toEqual(['other']);
  stop.abort();
  await running;
});

test('a request that was deleted meanwhile holds nothing: the hosts are cleaned', async () => {
  await ask(wanted());
  const hold = await findHold(place(), failed);
  if (hold === undefined) throw new Error('there is none');
  await store.multi([remove(paths.hold(hold.node))]);
  await withHostsAfter(place(), { hold }, { build: BUILD, granted: grant, labels }, operations =>
    store.multi(operations),
  );
  expect(await stateOf('one')).toMatchObject({ trouble: { leftovers: [BUILD] } });
  expect((await stateOf('one'))?.held).toBeUndefined();
});

test('a host that a person holds stays held by that person, and what the build left is cleaned', async () => {
  await changeHostState(place(), 'one', () => ({ held: { reason: 'a new disk', since: clock.now() } }));
  await ask(wanted());
  await end();
  expect(await stateOf('one')).toMatchObject({
    held: { reason: 'a new disk' },
    trouble: { leftovers: [BUILD] },
  });
});

test('of two builds that end at the same time one is held', async () => {
  await ask(wanted());
  await Promise.all([end(), end(OTHER)]);
  const [stored] = await readHolds(place(), undefined);
  expect(stored?.hold.held).toHaveLength(1);
});

test('one record that cannot be read hides no other', async () => {
  await ask(wanted());
  await store.multi([create(`${paths.holds}/`, new TextEncoder().encode('?'), { sequential: true })]);
  const broken: string[] = [];
  expect(await readHolds(place(), undefined, id => broken.push(id))).toHaveLength(1);
  expect(broken).toHaveLength(1);
});

test('a build that failed reads the requests of its own tenant alone, and their ids are unique among all', async () => {
  for (let at = 0; at < 30; at++) await ask(wanted({ on: 'all' }, { tenant: 'acme-other', job: `job${at}` }));
  await ask(wanted({ on: 'all' }, { job: 'other' }));
  await ask(wanted());
  const read: string[] = [];
  const counting: Store = new Proxy(store, {
    get(target, name) {
      const found = Reflect.get(target, name);
      if (name === 'getMany')
        return (asked: readonly string[]) => {
          read.push(...asked);
          return target.getMany(asked);
        };
      return typeof found === 'function' ? found.bind(target) : found;
    },
  });
  const found = await findHold({ ...place(), store: counting }, failed);
  expect(found).toMatchObject({ id: '0000000031', node: 'acme-0000000031', hold: { job: 'unit' } });
  expect(read).toEqual([paths.hold('acme-0000000030'), paths.hold('acme-0000000031')]);
  expect(await readHolds(place(), undefined)).toHaveLength(32);
});
