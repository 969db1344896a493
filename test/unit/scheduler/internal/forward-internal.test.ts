/** Events of the connection `zuul` on a store: one for each change, in any scheduler, in bounded number. */
import { expect, onTestFinished, test } from 'vitest';
import type { Uuid } from '../../../../src/lib/ids.ts';
import { type ChangeKey, type ChangeRecord, changeKey } from '../../../../src/model/change.ts';
import { internalEventCodec, pipelineEventCodec } from '../../../../src/model/codec/records.ts';
import type { PipelineEvent } from '../../../../src/model/event.ts';
import type { InternalEvent } from '../../../../src/model/internal-event.ts';
import { parseCommitId, projectKey } from '../../../../src/model/project.ts';
import {
  type ForwardInternalDeps,
  forwardInternalEvents,
} from '../../../../src/scheduler/internal/forward-internal.ts';
import { ensureNode } from '../../../../src/store/ensure-node.ts';
import { EventQueue } from '../../../../src/store/event-queue.ts';
import { acquireFence, type Fence } from '../../../../src/store/fence.ts';
import { rootSpanOf } from '../../../../src/tracing/span-ids.ts';
import { gatePipeline } from '../../../fake/pipeline.ts';
import { openStand } from '../stand.ts';
import { untilMet } from '../until-met.ts';

const APP = projectKey({ connection: 'here', name: 'org/app' });
const LIB = projectKey({ connection: 'here', name: 'org/lib' });
const ITEM = 'a'.repeat(32) as Uuid;

class HostAway extends Error {
  readonly retryable = true;
}

function recordOf(id: string, parts: Partial<ChangeRecord> = {}, project = APP): ChangeRecord {
  const change = {
    ...{ kind: 'change', key: changeKey(project, id), project, branch: 'master', id, patchset: '1' },
    ...{ commit: parseCommitId('a'.repeat(40)), ref: `refs/changes/${id}`, subject: id },
  };
  return {
    ...{ change, status: 'open', dependsOn: [], unresolvedDependencies: [], facts: {}, fetchedAt: '1' },
    ...parts,
  } as unknown as ChangeRecord;
}

/** A tenant in which `follow` starts because of both events. */
async function openTenant(records: readonly ChangeRecord[], parts: Partial<ForwardInternalDeps> = {}) {
  const stand = openStand();
  const { store, paths, clock, ids, log } = stand;
  const places = paths.tenant('acme');
  const internalEvents = new EventQueue<InternalEvent>({
    ...{ store, clock, codec: internalEventCodec, path: places.internal },
  });
  const events = new EventQueue<PipelineEvent>({
    ...{ store, clock, codec: pipelineEventCodec },
    path: paths.pipeline('acme', 'follow').eventQueue,
  });
  await internalEvents.prepare();
  await events.prepare();
  for (const path of [paths.spanOutbox, paths.historyOutbox]) await ensureNode(store, path);
  const trigger = { event: ['project-change-merged', 'parent-change-enqueued'], pipeline: [] };
  const pipeline = gatePipeline({
    name: 'follow',
    triggers: [{ connection: 'zuul', config: trigger, definedAt: 'x' }],
  });
  const config = {
    tenant: { name: 'acme', projects: [] },
    branches: new Map(),
    layout: {
      pipelines: new Map([['follow', pipeline]]),
      projects: new Map([
        [APP, { pipelines: new Set(['follow']) }],
        [LIB, { pipelines: new Set() }],
      ]),
    },
  };
  const byKey = new Map(records.map(record => [record.change.key, record]));
  const missed: number[] = [];
  const own = {
    ...{ tenant: 'acme', clock, ids, log, paths, internalEvents },
    metrics: {
      record: (all: readonly { value: number }[]) => void missed.push(...all.map(({ value }) => value)),
    },
    config: () => config,
    pauses: [1],
    eventsOf: () => events,
    connections: new Map(),
    topics: { membersOf: async () => null },
    dependencies: { resolve: async (record: ChangeRecord) => record },
    changes: {
      record: (key: ChangeKey) => byKey.get(key),
      records: (project: string) => records.filter(({ change }) => change.project === project),
      dependentsOf: (key: ChangeKey) =>
        records.filter(({ dependsOn }) => dependsOn.includes(key)).map(({ change }) => change.key),
      operations: () => [],
      remember: () => {},
      conflict: async () => false,
      fresh: async () => {},
      mark: () => 0,
      changedSince: () => false,
    },
    tracing: { spans: () => undefined, policy: () => ({ ratio: 1, keep: [] }), isSampled: () => true },
    ...parts,
  } as unknown as ForwardInternalDeps;
  return {
    ...{ stand, missed, own },
    async put(type: InternalEvent['type'], id: string) {
      const event: InternalEvent = {
        ...{ uuid: ids.uuid(), type, changes: [changeKey(APP, id)], projects: [APP], pipeline: 'gate' },
        ...{ after: null, queuedAt: clock.now(), causedBy: rootSpanOf(ITEM), sampled: true },
      };
      await store.multi(internalEvents.put(event));
    },
    events: async () =>
      (await events.list()).flatMap(({ value }) =>
        value.kind === 'enqueue' ? [`${value.matched}: ${value.trigger.change.key}`] : [],
      ),
    waiting: () => internalEvents.list(),
    settled: () => untilMet(async () => expect(await internalEvents.depth()).toBe(0)),
    /** A scheduler that holds the tenant. @param commits after so many its process dies. */
    async hold(commits = Number.POSITIVE_INFINITY) {
      const stop = new AbortController();
      const fence = await acquireFence(store, {
        lockPath: places.lock,
        epochPath: places.epoch,
        lastOperationPath: places.lastOperation,
        guid: ids.uuid(),
      });
      let made = 0;
      const dying: Fence = new Proxy(fence, {
        get: (target, name) =>
          name === 'commit'
            ? async (...args: Parameters<Fence['commit']>) => {
                if (made >= commits) throw new Error('the process died');
                made += 1;
                return target.commit(...args);
              }
            : Reflect.get(target, name, target),
      });
      const running = forwardInternalEvents(own, dying, stop.signal);
      running.catch(() => {});
      const end = async () => {
        stop.abort(new Error('the test ends'));
        await running.catch(() => {});
        await fence.release();
      };
      onTestFinished(end);
      return { end, running };
    },
  };
}

const numbered = (count: number) =>
  Array.from({ length: count }, (_, index) => recordOf(String(index + 1_000)));

test('a merge makes an event for every open change of its project, and for nothing else', async () => {
  const tenant = await openTenant([
    recordOf('1', { status: 'merged' }),
    recordOf('2'),
    recordOf('3', { status: 'abandoned' }),
    recordOf('4'),
    recordOf('5', {}, LIB),
  ]);
  await tenant.put('project-change-merged', '1');
  await tenant.hold();
  await tenant.settled();
  expect(await tenant.events()).toEqual([
    'event project-change-merged: here/org/app#2',
    'event project-change-merged: here/org/app#4',
  ]);
});

test('a change that entered makes an event for the changes that need it, over projects in the pipeline', async () => {
  const needs = { dependsOn: [changeKey(APP, '1')] };
  const tenant = await openTenant([
    recordOf('1'),
    recordOf('2', needs),
    recordOf('3', { dependsOn: [changeKey(APP, '2')] }),
    recordOf('4', needs, LIB),
  ]);
  await tenant.put('parent-change-enqueued', '1');
  await tenant.hold();
  await tenant.settled();
  expect(await tenant.events()).toEqual(['event parent-change-enqueued: here/org/app#2']);
});

test('a scheduler that dies between two commits leaves each event to be made once', async () => {
  const tenant = await openTenant(numbered(200));
  await tenant.put('project-change-merged', '1');
  const first = await tenant.hold(2);
  await expect(first.running).rejects.toThrow('the process died');
  const made = await tenant.events();
  expect(made).toHaveLength(80);
  expect(await tenant.waiting()).toMatchObject([{ value: { after: 'here/org/app#1079' } }]);
  await first.end();
  await tenant.hold();
  await tenant.settled();
  const all = await tenant.events();
  expect(all).toHaveLength(200);
  expect(new Set(all).size).toBe(200);
});

test('what a project has beyond the bound is counted as missed, once', async () => {
  const tenant = await openTenant(numbered(90), { mostChanges: 50 });
  await tenant.put('project-change-merged', '1');
  const first = await tenant.hold(1);
  await expect(first.running).rejects.toThrow('the process died');
  await first.end();
  await tenant.hold();
  await tenant.settled();
  expect(await tenant.events()).toHaveLength(50);
  expect(tenant.missed).toEqual([40]);
  expect(tenant.stand.logged).toContain(
    'warn: no project-change-merged for 40 changes: more changes than one event is made for',
  );
});

/** A host that lists these numbers, and of which some changes can be read. */
function hostWith(listed: readonly number[], records: readonly ChangeRecord[]) {
  const asked: string[] = [];
  const host = { isAway: false, asked };
  const source = {
    openChanges: async (project: string, most: number) => {
      if (host.isAway) throw new HostAway('away');
      asked.push(`list ${project}`);
      return { changes: listed.slice(0, most).map(each => changeKey(APP, String(each))), isMore: false };
    },
    fetchChange: async (key: ChangeKey) => {
      asked.push(key);
      return records.find(({ change }) => change.key === key);
    },
  };
  return {
    host,
    connections: new Map([['here', { source }]]) as unknown as ForwardInternalDeps['connections'],
  };
}

test('changes that the host alone knows get the event of a merge, and are stored; those that it closed do not', async () => {
  const { host, connections } = hostWith([2, 3, 4, 5], [recordOf('3'), recordOf('4', { status: 'merged' })]);
  const stored: string[] = [];
  const known = [recordOf('1', { status: 'merged' }), recordOf('2')];
  const tenant = await openTenant(known, { connections });
  tenant.own.changes.operations = records => {
    stored.push(...records.map(({ change }) => change.key));
    return [];
  };
  await tenant.put('project-change-merged', '1');
  await tenant.hold();
  await tenant.settled();
  expect(await tenant.events()).toEqual([
    'event project-change-merged: here/org/app#2',
    'event project-change-merged: here/org/app#3',
  ]);
  // What is known is not read, what is new is read once.
  expect(host.asked).toEqual(['list here/org/app', ...['3', '4', '5'].map(each => `here/org/app#${each}`)]);
  expect(stored).toEqual(['here/org/app#3']);
  await tenant.put('parent-change-enqueued', '1');
  await tenant.settled();
  expect(host.asked).toHaveLength(4);
});

test('a host that cannot list is waited for, an hour at most; of what it lists no more than a bound is read', async () => {
  const all = Array.from({ length: 600 }, (_, index) => index + 1_000);
  const { host, connections } = hostWith(
    all,
    all.map(each => recordOf(String(each))),
  );
  host.isAway = true;
  const tenant = await openTenant([recordOf('2')], { connections });
  await tenant.put('project-change-merged', '1');
  await tenant.hold();
  await untilMet(async () => expect(tenant.stand.logged.join()).toContain('cannot be listed'));
  expect(await tenant.events()).toEqual([]);
  tenant.stand.clock.advance(3_700_000);
  await tenant.settled();
  expect(await tenant.events()).toHaveLength(1);
  host.isAway = false;
  await tenant.put('project-change-merged', '1');
  await tenant.settled();
  expect(await tenant.events()).toHaveLength(1 + 501);
  expect(tenant.missed).toEqual([100]);
});

test('a host that is away delays its own record, for an hour at most', async () => {
  let isAway = true;
  const resolve = async (record: ChangeRecord) => {
    if (isAway && record.change.key.endsWith('#2')) throw new HostAway('away');
    return record;
  };
  const needs = { dependsOn: [changeKey(APP, '9')] };
  const tenant = await openTenant([recordOf('1', needs), recordOf('2', needs), recordOf('3')], {
    dependencies: { resolve },
  });
  await tenant.put('parent-change-enqueued', '9');
  await tenant.hold();
  await untilMet(async () => expect(tenant.stand.logged.join()).toContain('cannot be read'));
  expect(await tenant.events()).toEqual([]);
  isAway = false;
  await tenant.settled();
  expect(await tenant.events()).toHaveLength(2);
  isAway = true;
  await tenant.put('project-change-merged', '9');
  tenant.stand.clock.advance(3_700_000);
  await tenant.settled();
  expect((await tenant.events()).slice(2)).toEqual([
    'event project-change-merged: here/org/app#1',
    'event project-change-merged: here/org/app#3',
  ]);
  expect(tenant.missed).toEqual([1]);
});
