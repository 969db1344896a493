/** Every write of the driver contract, in a tenant in shadow mode: none is made. */
import { expect, test } from 'vitest';
import type { Answerer } from '../../../../src/driver/answerer.ts';
import type { Connection } from '../../../../src/driver/connection.ts';
import type { Landing } from '../../../../src/driver/landing.ts';
import type { Messenger } from '../../../../src/driver/messenger.ts';
import type { Reporter } from '../../../../src/driver/reporter.ts';
import { systemClock } from '../../../../src/lib/clock.ts';
import type { Change } from '../../../../src/model/change.ts';
import { pipelineEventCodec, reportIntentCodec } from '../../../../src/model/codec/records.ts';
import type { PipelineEvent } from '../../../../src/model/event.ts';
import { parseCommitId } from '../../../../src/model/project.ts';
import type { ReportIntent } from '../../../../src/model/report-intent.ts';
import type { LiveProgress } from '../../../../src/scheduler/report/live-progress.ts';
import { processReports } from '../../../../src/scheduler/report/report-loop.ts';
import { layoutInForce } from '../../../../src/scheduler/report/right-to-act.ts';
import { showAt } from '../../../../src/scheduler/report/show-at.ts';
import { ensureNode } from '../../../../src/store/ensure-node.ts';
import { EventQueue } from '../../../../src/store/event-queue.ts';
import { listOutbox, outboxOperation } from '../../../../src/store/outbox.ts';
import { check } from '../../../../src/store/port.ts';
import { createQuarantine } from '../../../../src/store/quarantine.ts';
import { itemStory, proposedChange } from '../../../fake/queue-item.ts';
import { NO_DETAILS } from '../../../fake/records.ts';
import { sampleReport } from '../../../fake/report.ts';
import { eventually, openStand, type Stand } from '../stand.ts';

/** What each function of the contract that may write has to do with reports. A new one does not compile until it is here. */
const WRITES: {
  readonly [name in keyof Required<Reporter> | keyof Required<Landing> | keyof Answerer]: string;
} = {
  report: 'performPart',
  progress: 'showAt',
  land: 'performPart',
  landInOrder: 'landReportsInOrder',
  landed: 'reads only',
  answer: 'answerQuestions, see its own test',
};
/** Capabilities of a connection: those that write are in `WRITES`, the others read. */
const CAPABILITIES: { readonly [name in keyof Required<Connection>]: 'writes' | 'reads' } = {
  ...{ reporter: 'writes', landing: 'writes', answerer: 'writes' },
  ...{ name: 'reads', driver: 'reads', canonicalHostname: 'reads', readOnly: 'reads', landsBy: 'reads' },
  ...{ borrowsAccess: 'reads', remote: 'reads', publicUrl: 'reads', source: 'reads', listener: 'reads' },
  ...{ webhook: 'reads', health: 'reads', usage: 'reads', checkOnline: 'reads', close: 'reads' },
};

const { item } = itemStory();
const change = proposedChange('master/login');
const LANDED = {
  project: change.project,
  branch: 'master',
  commit: parseCommitId('c'.repeat(40)),
  tree: 'd'.repeat(40),
};

/** Notes each call. */
function host(calls: string[]) {
  const reporter: Required<Reporter> = {
    report: async () => {
      calls.push('report');
      return { kind: 'done' };
    },
    progress: async () => {
      calls.push('progress');
      return { kind: 'done' };
    },
  };
  const landed = { kind: 'landed', landed: [LANDED] } as const;
  const landing: Required<Landing> = {
    land: async () => {
      calls.push('land');
      return landed;
    },
    landInOrder: async requests => {
      calls.push('landInOrder');
      return requests.map(() => landed);
    },
    landed: async () => [],
  };
  const connection: Pick<Connection, 'reporter' | 'landing'> = { reporter, landing };
  const messenger: Pick<Messenger, 'reporter'> = { reporter };
  return { connection, messenger, reporter };
}

function layout(shadowMode: { value: boolean }) {
  const settled = { upToDate: async () => {}, refresh: async () => {}, settled: async () => {} };
  return layoutInForce(settled, () => ({
    queueOf: () => ({ key: 'app', name: 'app', allowsCycles: false, byTopic: false }),
    layoutCheck: check('/'),
    tenant: {
      name: 'acme',
      projects: [],
      maxJobTimeout: 1,
      ...(shadowMode.value ? { shadowMode: true } : {}),
    },
  }));
}

function intent(stand: Stand, parts: readonly boolean[], more: Partial<ReportIntent> = {}): ReportIntent {
  return {
    ...{ uuid: stand.ids.uuid(), tenant: 'acme', pipeline: 'gate', item: item.uuid, action: 'success' },
    ...{ awaited: true, result: 'SUCCESS', requestedAt: stand.clock.now(), message: 'Build succeeded.' },
    ...{ url: 'http://localhost/t/acme/item/x', details: NO_DETAILS },
    parts: parts.map(merges => ({ connection: 'local', config: { merge: merges }, merges, change })),
    ...more,
  };
}

async function openLoop(stand: Stand, shadow: { value: boolean }, progress?: LiveProgress) {
  const calls: string[] = [];
  const { connection, messenger } = host(calls);
  const stop = new AbortController();
  const loops: Promise<void>[] = [];
  const events = new EventQueue({
    store: stand.store,
    path: '/events',
    codec: pipelineEventCodec,
    clock: stand.clock,
  });
  await events.prepare();
  const fence = await stand.fence('gate');
  for (const [outbox, connections] of [
    ['/reports', new Map([['local', connection]])],
    ['/messages', new Map([['local', messenger]])],
  ] as const) {
    await ensureNode(stand.store, outbox);
    const deps = {
      ...{
        clock: systemClock(),
        ids: stand.ids,
        log: stand.log,
        store: stand.store,
        outbox,
        events,
        connections,
      },
      ...{ layout: layout(shadow), quarantine: createQuarantine({ ...stand, path: '/quarantine' }) },
      ...(progress === undefined ? {} : { progress }),
    };
    loops.push(processReports(deps, fence, stop.signal));
  }
  return {
    calls,
    async request(outbox: string, ...intents: readonly ReportIntent[]) {
      await stand.store.multi(
        intents.map(each => outboxOperation(outbox, reportIntentCodec.encode(each), stand.clock.now())),
      );
      await eventually(
        async () => (await listOutbox(stand.store, outbox)).length === 0,
        'the outbox to be empty',
      );
    },
    async results(): Promise<readonly PipelineEvent[]> {
      return (await events.list()).map(({ value }) => value);
    },
    async [Symbol.asyncDispose]() {
      stop.abort();
      await Promise.all(loops);
    },
  };
}

test('reports, landings, joint landings and messages are withheld, and the record has what they would have been', async () => {
  await using stand = openStand();
  await using loop = await openLoop(stand, { value: true });
  await loop.request('/reports', intent(stand, [true, false]), intent(stand, [false], { item: null }));
  const first = intent(stand, [true]);
  await loop.request(
    '/reports',
    { ...first, together: first.uuid },
    intent(stand, [true], { together: first.uuid }),
  );
  await loop.request('/messages', intent(stand, [false], { answered: true }));
  expect(loop.calls).toEqual([]);
  const results = await loop.results();
  expect(results).toHaveLength(3);
  expect(results[0]).toMatchObject({
    outcome: { kind: 'withheld', lands: true, message: 'Build succeeded.' },
    parts: [
      {
        kind: 'HostMerge',
        outcome: 'withheld',
        reason: 'shadow-mode',
        text: 'would have landed the change, with {"merge":true}',
      },
      {
        kind: 'HostReport',
        outcome: 'withheld',
        reason: 'shadow-mode',
        text: 'would have reported, with {"merge":false}',
      },
    ],
  });
  expect(results.slice(1)).toMatchObject([
    { outcome: { kind: 'withheld' } },
    { outcome: { kind: 'withheld' } },
  ]);
});

test('the same reports are made without shadow mode, so that the test above can fail', async () => {
  await using stand = openStand();
  await using loop = await openLoop(stand, { value: false });
  await loop.request('/reports', intent(stand, [true, false]));
  const first = intent(stand, [true]);
  await loop.request(
    '/reports',
    { ...first, together: first.uuid },
    intent(stand, [true], { together: first.uuid }),
  );
  await loop.request('/messages', intent(stand, [false], { answered: true }));
  expect(new Set(loop.calls)).toEqual(new Set(['land', 'landInOrder', 'report']));
});

test('texts of progress are not written in shadow mode, also when the start was reported before it', async () => {
  await using stand = openStand();
  const shadow = { value: true };
  const calls: string[] = [];
  const { reporter } = host(calls);
  let mayShow: ((of: Change) => Promise<boolean>) | undefined;
  const taken = Promise.withResolvers<void>();
  await using _ = await openLoop(stand, shadow, {
    observe() {},
    async run(acting) {
      mayShow = acting.mayShow;
      taken.resolve();
    },
  });
  await taken.promise;
  const show = () =>
    showAt(
      [{ connection: 'local', reporter, config: {}, change, earlier: { kind: 'none' } }],
      { item, report: sampleReport(), options: undefined },
      {
        clock: stand.clock,
        ids: stand.ids,
        log: stand.log,
        paths: { spanOutbox: '/spans', historyOutbox: '/rows' },
      },
      {
        mayAct: () => true,
        mayShow: async of => (await mayShow?.(of)) === true,
        commit: async () => {},
        signal: AbortSignal.timeout(5000),
      },
    );
  await show();
  expect(calls).toEqual([]);
  shadow.value = false;
  await show();
  expect(calls).toEqual(['progress']);
});

test('every function of the contract that may write is named here', () => {
  expect(Object.keys(WRITES)).toHaveLength(6);
  const writing = Object.entries(CAPABILITIES).flatMap(([name, what]) => (what === 'writes' ? [name] : []));
  expect(writing).toEqual(['reporter', 'landing', 'answerer']);
});
