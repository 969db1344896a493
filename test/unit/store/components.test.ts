import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { parseNanoseconds } from '../../../src/lib/clock.ts';
import { componentCodec } from '../../../src/model/codec/records.ts';
import type { ComponentRecord } from '../../../src/model/component.ts';
import { askComponent, openComponents } from '../../../src/store/component-view.ts';
import { type ExecutorLabels, openExecutorLabels, registerComponent } from '../../../src/store/components.ts';
import { type EmbeddedStore, openEmbeddedStore } from '../../../src/store/embedded/server.ts';
import { ensureNode } from '../../../src/store/ensure-node.ts';
import { storePaths } from '../../../src/store/paths.ts';
import { create } from '../../../src/store/port.ts';
import { eventually } from '../../conformance/store/eventually.ts';
import { newerRecord } from '../../fake/newer-record.ts';
import { FaultyStore } from './faulty-store.ts';

const paths = storePaths('/gatehouse');
const BASE = paths.components('executor');
let server: EmbeddedStore;
let store: FaultyStore;
let executors: ExecutorLabels;
let errors: unknown[];

beforeEach(async () => {
  server = openEmbeddedStore({ file: ':memory:' });
  store = new FaultyStore(server.connect());
  errors = [];
  executors = await openExecutorLabels(store, paths, error => errors.push(error));
});
afterEach(async () => {
  executors[Symbol.dispose]();
  await server.close();
});

const executor = (...labels: string[]): ComponentRecord => ({
  host: 'ci 1',
  pid: 1,
  version: '0.1.0',
  state: 'running',
  startedAt: parseNanoseconds('1'),
  labels,
  address: null,
});

/** Another process's executor. */
async function start(...labels: string[]) {
  const session = server.connect();
  await registerComponent(session, paths, 'executor', executor(...labels));
  return session;
}

describe('the view of executors', () => {
  test('knows nothing before one is registered', () => {
    expect(executors.canRun(['linux'])).toBe('no-executor');
    expect(executors.canRun([])).toBe('no-executor');
    expect(executors.offered()).toEqual([]);
  });

  test('learns of labels by watch, and of their end with the session', async () => {
    const first = await start('linux');
    const second = await start('gpu', 'linux');
    await eventually(() => executors.canRun(['gpu']) === 'yes');
    expect(executors.offered()).toEqual(['gpu', 'linux']);
    await second.close();
    await eventually(() => executors.canRun(['gpu']) === 'no-such-label');
    expect(executors.canRun(['linux'])).toBe('yes');
    await first.close();
    await eventually(() => executors.canRun(['gpu']) === 'no-executor');
    expect(errors).toEqual([]);
  });

  test('wants all labels of a job on one executor', async () => {
    await start('linux');
    await start('gpu');
    await eventually(() => executors.offered().length === 2);
    expect(executors.canRun(['linux', 'gpu'])).toBe('no-such-label');
    expect(executors.canRun([])).toBe('yes');
  });

  test('holds those that were there before it was opened', async () => {
    await start('linux');
    using later = await openExecutorLabels(store, paths, error => errors.push(error));
    expect(later.canRun(['linux'])).toBe('yes');
  });

  test('condemns no label while one executor cannot be understood', async () => {
    await start('linux');
    const newer = newerRecord(componentCodec);
    await ensureNode(store, BASE);
    await store.multi([create(`${BASE}/newer-`, newer, { ephemeral: true, sequential: true })]);
    await eventually(() => errors.length > 0);
    expect(executors.canRun(['linux'])).toBe('yes');
    expect(executors.canRun(['gpu'])).toBe('no-executor');
    expect(String(errors[0])).toContain('version 3');
  });

  test('catches up after it was out of contact', async () => {
    store.suspend();
    await start('linux');
    expect(executors.canRun(['linux'])).toBe('no-executor');
    store.resume();
    await eventually(() => executors.canRun(['linux']) === 'yes');
  });
});

test('a registration whose request was lost is sent again', async () => {
  const session = new FaultyStore(server.connect());
  await ensureNode(session, BASE);
  session.faults.push('lose-request');
  await registerComponent(session, paths, 'executor', executor('linux'));
  expect(await store.children(BASE)).toEqual([expect.stringMatching(/^ci%201-\d{10}$/)]);
});

test('a registration whose reply was lost is found, not made twice', async () => {
  const session = new FaultyStore(server.connect());
  await ensureNode(session, BASE);
  session.faults.push('lose-reply');
  const registration = await registerComponent(session, paths, 'executor', executor('linux'));
  expect(registration.id).toBe('executor-0');
  expect(await store.children(BASE)).toHaveLength(1);
});

describe('the registry', () => {
  test('lists each component with its last update, the oldest first, and reports their end', async () => {
    using all = await openComponents(store, paths, error => errors.push(error));
    let changes = 0;
    all.onChange(() => {
      changes += 1;
    });
    const [a, b] = [server.connect(), server.connect()];
    const first = await registerComponent(a, paths, 'executor', executor('linux'));
    await registerComponent(b, paths, 'executor', { ...executor('gpu'), host: 'a before c' });
    await registerComponent(b, paths, 'scheduler', { ...executor(), host: 'x' });
    await first.update({ state: 'paused' });
    await eventually(() => all.list().length === 3 && all.list()[1]?.state === 'paused');
    expect(all.list().map(({ id, state, host }) => `${id} ${state} ${host}`)).toEqual([
      'scheduler-0 running x',
      'executor-0 paused ci 1',
      'executor-1 running a before c',
    ]);
    expect(changes).toBeGreaterThan(0);
    await b.close();
    await eventually(() => all.list().length === 1);
    await expect(first.update({ state: 'paused' })).resolves.toBeUndefined();
    await a.close();
    await expect(first.update({ state: 'running' })).rejects.toMatchObject({ code: 'SessionExpired' });
    expect(errors).toEqual([]);
  });

  test('a requested state and the update of the component do not undo each other', async () => {
    const requested: string[] = [];
    const session = new FaultyStore(server.connect());
    const me = await registerComponent(session, paths, 'executor', executor(), state =>
      requested.push(state),
    );
    // Between reading and writing of the one the other writes.
    session.beforeMulti = async () => {
      session.beforeMulti = () => {};
      await askComponent(server.connect(), paths, me.id, 'paused');
    };
    await me.update({ state: 'stopping' });
    using all = await openComponents(store, paths, error => errors.push(error));
    expect(all.list()).toMatchObject([{ state: 'stopping', wanted: 'paused' }]);
    await eventually(() => requested.join() === 'paused');
  });

  test('a requested state whose reply was lost is written once and received once', async () => {
    const requested: string[] = [];
    const me = await registerComponent(server.connect(), paths, 'executor', executor(), state =>
      requested.push(state),
    );
    const asking = new FaultyStore(server.connect());
    asking.faults.push('lose-reply');
    expect(await askComponent(asking, paths, me.id, 'paused')).toBe('asked');
    await eventually(() => requested.length > 0);
    expect(requested).toEqual(['paused']);
    me[Symbol.dispose]();
  });

  test('a record of a newer version is reported and omitted', async () => {
    await start('linux');
    await store.multi([
      create(`${BASE}/newer-`, newerRecord(componentCodec), { ephemeral: true, sequential: true }),
    ]);
    using all = await openComponents(store, paths, error => errors.push(error));
    expect(all.list().map(({ id }) => id)).toEqual(['executor-0']);
    expect(String(errors[0])).toContain('version 3');
  });
});
