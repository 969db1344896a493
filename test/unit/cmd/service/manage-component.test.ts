import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Component, ComponentName, Core } from '../../../../src/cmd/service/core.ts';
import {
  type Managed,
  manageComponent,
  type ProcessCore,
} from '../../../../src/cmd/service/manage-component.ts';
import { systemClock } from '../../../../src/lib/clock.ts';
import type { Log } from '../../../../src/lib/log.ts';
import { askComponent, type Components, openComponents } from '../../../../src/store/component-view.ts';
import { type EmbeddedStore, openEmbeddedStore } from '../../../../src/store/embedded/server.ts';
import { ensureNode } from '../../../../src/store/ensure-node.ts';
import { storePaths } from '../../../../src/store/paths.ts';
import type { Store } from '../../../../src/store/port.ts';
import { eventually } from '../../../conformance/store/eventually.ts';

const paths = storePaths('/gatehouse');
const log: Log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {}, child: () => log };
let server: EmbeddedStore;
let web: Store;
let components: Components;
let sessions: Store[];
let calls: string[];
let drained: PromiseWithResolvers<void>;

beforeEach(async () => {
  server = openEmbeddedStore({ file: ':memory:' });
  web = server.connect();
  components = await openComponents(web, paths, error => {
    throw error;
  });
  sessions = [];
  calls = [];
  drained = Promise.withResolvers();
});
afterEach(async () => {
  components[Symbol.dispose]();
  await server.close();
});

function manage(name: ComponentName = 'executor', pausedOnStart = false): Managed<Component> {
  // Of the process only what managing needs; the component is a stand-in.
  const core = {
    log,
    clock: systemClock(),
    paths,
    host: 'ci1',
    storeName: 'the store',
    settings: { executor: { pausedOnStart } },
    connect: async () => server.connect(),
  } as unknown as ProcessCore;
  return manageComponent(name, core, start);
}

async function start(core: Core): Promise<Component> {
  const store = await core.session();
  sessions.push(store);
  calls.push(core.paused ? 'start paused' : 'start');
  const ended = Promise.withResolvers<void>();
  return {
    name: 'executor',
    ended: ended.promise,
    notReady: () => undefined,
    offers: { labels: ['linux'], address: 'http://ci1:1' },
    pause: () => void calls.push('pause'),
    resume: () => void calls.push('resume'),
    drain() {
      calls.push('drain');
      return drained.promise;
    },
    async close() {
      calls.push('close');
      ended.resolve();
      await store.close();
    },
  };
}

const states = () => components.list().map(({ id, state }) => `${id} ${state}`);

describe('a managed component', () => {
  test('is in the registry with what it offers, until it is closed', async () => {
    const managed = manage();
    await managed.ready;
    await eventually(() => components.list().length === 1);
    expect(components.list()).toMatchObject([
      {
        id: 'executor-0',
        host: 'ci1',
        pid: process.pid,
        state: 'running',
        labels: ['linux'],
        address: 'http://ci1:1',
      },
    ]);
    await managed.close();
    await eventually(() => components.list().length === 0);
    expect(calls).toEqual(['start', 'close']);
  });

  test('adopts a requested state, and the registry shows it', async () => {
    const managed = manage();
    await managed.begun;
    expect(await askComponent(web, paths, 'executor-0', 'paused')).toBe('asked');
    await eventually(() => states()[0] === 'executor-0 paused');
    await askComponent(web, paths, 'executor-0', 'running');
    await eventually(() => states()[0] === 'executor-0 running');
    expect(calls).toEqual(['start', 'pause', 'resume']);
    expect(await askComponent(web, paths, 'executor-7', 'paused')).toBe('gone');
    expect(await askComponent(web, paths, 'unknown', 'paused')).toBe('gone');
    await managed.close();
  });

  test('registers again after the loss of its session, under another number, still paused', async () => {
    const managed = manage();
    await managed.begun;
    await askComponent(web, paths, 'executor-0', 'paused');
    await eventually(() => calls.includes('pause'));
    await server.expire(sessions[0]?.sessionId ?? '');
    await eventually(() => states().join() === 'executor-1 paused');
    expect(calls).toEqual(['start', 'pause', 'close', 'start paused', 'pause']);
    await managed.close();
  });

  test('asked to stop finishes what it has, then deregisters and ends', async () => {
    const managed = manage();
    await managed.begun;
    await askComponent(web, paths, 'executor-0', 'stopping');
    await eventually(() => states()[0] === 'executor-0 stopping');
    await askComponent(web, paths, 'executor-0', 'running');
    drained.resolve();
    await managed.ended;
    await eventually(() => states().length === 0);
    expect(calls).toEqual(['start', 'pause', 'drain', 'close']);
  });

  test('closed while it stops gracefully, it does not wait for its work', async () => {
    const managed = manage();
    await managed.begun;
    const stopped = managed.stopGracefully();
    await eventually(() => calls.includes('drain'));
    await managed.close();
    await stopped;
    await managed.ended;
  });

  test('whose session is lost while it stops gracefully has nothing left to finish', async () => {
    const managed = manage();
    await managed.begun;
    const stopped = managed.stopGracefully();
    await eventually(() => calls.includes('drain'));
    await server.expire(sessions[0]?.sessionId ?? '');
    await stopped;
    await managed.ended;
  });

  test('an executor may begin paused', async () => {
    const managed = manage('executor', true);
    await managed.begun;
    await eventually(() => states()[0] === 'executor-0 paused');
    expect(calls).toEqual(['start paused', 'pause']);
    await managed.close();
  });

  test('a web cannot be paused', async () => {
    const managed = manage('web');
    await managed.begun;
    await askComponent(web, paths, 'web-0', 'paused');
    await askComponent(web, paths, 'web-0', 'stopping');
    drained.resolve();
    await managed.ended;
    expect(calls).toEqual(['start', 'pause', 'drain', 'close']);
  });
});

test('a component refuses to work on an incompletely copied tree and reports the remedy', async () => {
  await ensureNode(web, `${paths.root}/copying`);
  const managed = manage();
  const failures = await Promise.allSettled([managed.ended, managed.begun, managed.ready]);
  expect(failures.map(each => each.status)).toEqual(['rejected', 'rejected', 'rejected']);
  expect(String((failures[0] as PromiseRejectedResult).reason)).toContain(
    'an incomplete dump (below /gatehouse); remove /gatehouse and restore again',
  );
  expect(calls).toEqual([]);
});
