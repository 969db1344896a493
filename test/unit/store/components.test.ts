import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { recordCodec } from '../../../src/model/codec/record.ts';
import type { ComponentRecord } from '../../../src/model/component.ts';
import { type ExecutorLabels, openExecutorLabels, registerComponent } from '../../../src/store/components.ts';
import { type EmbeddedStore, openEmbeddedStore } from '../../../src/store/embedded/server.ts';
import { ensureNode } from '../../../src/store/ensure-node.ts';
import { storePaths } from '../../../src/store/paths.ts';
import { create } from '../../../src/store/port.ts';
import { eventually } from '../../conformance/store/eventually.ts';
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

const executor = (...labels: string[]): ComponentRecord => ({ host: 'ci 1', version: '0.1.0', labels });

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
    const newer = recordCodec<ComponentRecord>('component', 2).encode(executor('gpu'));
    await ensureNode(store, BASE);
    await store.multi([create(`${BASE}/newer-`, newer, { ephemeral: true, sequential: true })]);
    await eventually(() => errors.length > 0);
    expect(executors.canRun(['linux'])).toBe('yes');
    expect(executors.canRun(['gpu'])).toBe('no-executor');
    expect(String(errors[0])).toContain('version 2');
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
