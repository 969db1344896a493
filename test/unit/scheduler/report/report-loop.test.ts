import { describe, expect, test } from 'vitest';
import type { Connection } from '../../../../src/driver/connection.ts';
import type { Landing, LandingOutcome, LandingRequest } from '../../../../src/driver/landing.ts';
import type { Reporter, ReporterOutcome, ReportRequest } from '../../../../src/driver/reporter.ts';
import { addMilliseconds, fromMilliseconds, systemClock } from '../../../../src/lib/clock.ts';
import {
  pipelineEventCodec,
  queueItemCodec,
  reportIntentCodec,
} from '../../../../src/model/codec/records.ts';
import type { Json } from '../../../../src/model/job.ts';
import { parseCommitId, projectKey } from '../../../../src/model/project.ts';
import type { QueueItem } from '../../../../src/model/queue-item.ts';
import type { ReportIntent } from '../../../../src/model/report-intent.ts';
import type { Step } from '../../../../src/model/step.ts';
import type { LiveProgress } from '../../../../src/scheduler/report/live-progress.ts';
import { NotAllowedToAct } from '../../../../src/scheduler/report/perform-part.ts';
import { performReport } from '../../../../src/scheduler/report/perform-report.ts';
import { itemReportIntent } from '../../../../src/scheduler/report/report-intents.ts';
import { processReports } from '../../../../src/scheduler/report/report-loop.ts';
import { createOffers } from '../../../../src/scheduler/report/report-offers.ts';
import type { LayoutInForce, ProjectStanding } from '../../../../src/scheduler/report/right-to-act.ts';
import { ensureNode } from '../../../../src/store/ensure-node.ts';
import { EventQueue } from '../../../../src/store/event-queue.ts';
import { listOutbox, outboxOperation } from '../../../../src/store/outbox.ts';
import { check } from '../../../../src/store/port.ts';
import { createQuarantine } from '../../../../src/store/quarantine.ts';
import { gatePipeline } from '../../../fake/pipeline.ts';
import { itemStory, proposedChange } from '../../../fake/queue-item.ts';
import { NO_DETAILS } from '../../../fake/records.ts';
import { eventually, openStand, type Stand } from '../stand.ts';

type Answer = LandingOutcome | ReporterOutcome | Error;

/** Answers from a list, the last one for ever; a thrown answer is a host that cannot be reached. */
function answering(answers: readonly Answer[], asked: string[], what: (config: Json) => string) {
  let at = 0;
  return ({ config }: { readonly config: Json }) => {
    asked.push(what(config));
    const answer = answers[Math.min(at++, answers.length - 1)];
    if (answer instanceof Error) throw answer;
    if (answer === undefined) throw new Error('nothing to answer');
    return answer;
  };
}

/** @param answers to landings and to reports of parts that land nothing; what is reported of a landing is taken by `words`. */
function connectionAnswering(answers: readonly Answer[], words: readonly Answer[] = [{ kind: 'done' }]) {
  const asked: string[] = [];
  const next = answering(answers, asked, config => `deed ${JSON.stringify(config)}`);
  const word = answering(words, asked, config => `words ${JSON.stringify(config)}`);
  const isLanding = (config: Json) => JSON.stringify(config).includes('"merge":true');
  const reporter: Reporter = {
    report: async request => (isLanding(request.config) ? word(request) : next(request)) as ReporterOutcome,
  };
  const landing: Pick<Landing, 'land'> = { land: async request => next(request) as LandingOutcome };
  return { asked, connection: { name: 'local', reporter, landing } as unknown as Connection };
}

const item = itemStory().item;
const change = proposedChange('master/login');
/** What the host holds when it has landed. */
const MASTER = {
  project: change.project,
  branch: 'master',
  commit: parseCommitId('c'.repeat(40)),
  tree: 'd'.repeat(40),
};
const LANDED: LandingOutcome = { kind: 'landed', landed: [MASTER] };
const part = (merges: boolean) => ({ connection: 'local', config: { merge: merges }, merges, change });

function intent(stand: Stand, parts: ReportIntent['parts']): ReportIntent {
  return {
    uuid: stand.ids.uuid(),
    tenant: 'acme',
    pipeline: 'gate',
    item: item.uuid,
    action: 'success',
    result: 'SUCCESS',
    requestedAt: stand.clock.now(),
    message: 'Build succeeded.',
    url: 'http://localhost/t/acme/item/x',
    details: NO_DETAILS,
    parts,
  };
}

const HELD: LayoutInForce = {
  standingOf: async () => ({ standing: 'held', check: check('/') }),
  refresh: async () => {},
};

function deps(stand: Stand, connection: Connection, mayAct = () => true) {
  return {
    clock: stand.clock,
    ids: stand.ids,
    log: stand.log,
    connections: new Map([['local', connection]]),
    mayAct,
    prove: async (): Promise<ProjectStanding> => 'held',
    isFirstTry: true,
    since: stand.clock.now(),
    layout: HELD,
    quarantine: createQuarantine({ ...stand, path: '/quarantine' }),
  };
}

describe('a report', () => {
  test('says the change merged when its merging reporter landed it', async () => {
    await using stand = openStand();
    const { asked, connection } = connectionAnswering([LANDED, { kind: 'done' }]);
    const result = await performReport(
      intent(stand, [part(true), part(false)]),
      deps(stand, connection),
      AbortSignal.timeout(5000),
    );
    expect(result?.outcome).toEqual({ kind: 'done', landed: [MASTER] });
    expect(result?.parts.map(each => [each.kind, each.outcome])).toEqual([
      ['HostMerge', 'done'],
      ['HostReport', 'done'],
    ]);
    expect(asked).toEqual(['deed {"merge":true}', 'words {"merge":true}', 'deed {"merge":false}']);
  });

  test('gives the landing what will be reported of it', async () => {
    await using stand = openStand();
    const given: LandingRequest[] = [];
    const land: Landing['land'] = async request => {
      given.push(request);
      return LANDED;
    };
    const connection = { name: 'local', landing: { land } } as unknown as Connection;
    const deed = intent(stand, [part(true)]);
    await performReport(deed, deps(stand, connection), AbortSignal.timeout(5000));
    expect(given).toMatchObject([
      { change, report: { action: 'success', item: item.uuid, place: { tenant: 'acme', pipeline: 'gate' } } },
    ]);
  });

  test('announces nothing after a merge that was refused', async () => {
    await using stand = openStand();
    const { asked, connection } = connectionAnswering([{ kind: 'base-moved', text: 'master is at 1234' }]);
    const result = await performReport(
      intent(stand, [part(true), part(false)]),
      deps(stand, connection),
      AbortSignal.timeout(5000),
    );
    expect(result?.outcome).toEqual({ kind: 'base-moved', text: 'master is at 1234' });
    expect(asked).toHaveLength(1);
  });

  test('asks a host that cannot be reached again, and counts the tries', async () => {
    await using stand = openStand();
    const { connection } = connectionAnswering([new Error('connection refused'), LANDED]);
    const result = await performReport(
      intent(stand, [part(true)]),
      deps(stand, connection),
      AbortSignal.timeout(5000),
    );
    expect(result?.parts[0]).toMatchObject({ tries: 2, outcome: 'done' });
    expect(stand.logged.filter(line => line.startsWith('warn'))).toHaveLength(1);
  });

  test('is not begun by a process that may have lost its lock', async () => {
    await using stand = openStand();
    const { asked, connection } = connectionAnswering([LANDED]);
    await expect(
      performReport(
        intent(stand, [part(true)]),
        deps(stand, connection, () => false),
        AbortSignal.timeout(5000),
      ),
    ).rejects.toThrow(NotAllowedToAct);
    expect(asked).toEqual([]);
  });

  test('of a connection without a reporter fails with a reason', async () => {
    await using stand = openStand();
    const result = await performReport(
      intent(stand, [part(false)]),
      deps(stand, { name: 'local' } as unknown as Connection),
      AbortSignal.timeout(5000),
    );
    expect(result?.parts[0]).toMatchObject({ outcome: 'failed', text: 'connection local cannot report' });
  });
});

describe('a report about a project that is not in the tenant any more', () => {
  /** The host of a connection that must not be asked to do anything. */
  function connectionWhere(landed: () => boolean) {
    const act = () => expect.unreachable('the host was asked to act');
    const landing: Landing = { land: act, landed: async () => (landed() ? [MASTER] : []) };
    return { name: 'local', reporter: { report: act }, landing } as unknown as Connection;
  }
  const carriedOut = (stand: Stand, connection: Connection, parts: ReportIntent['parts']) =>
    performReport(
      intent(stand, parts),
      { ...deps(stand, connection), prove: async () => 'removed' },
      AbortSignal.timeout(5000),
    );

  test('lands nothing and says nothing', async () => {
    await using stand = openStand();
    const connection = connectionWhere(() => false);
    for (const parts of [[part(true), part(false)], [part(false)]]) {
      const deed = await carriedOut(stand, connection, parts);
      expect(deed.outcome.kind).toBe('withdrawn');
      expect(deed.parts).toMatchObject([{ outcome: 'withdrawn', reason: 'project-removed' }]);
    }
  });

  test('is done when an earlier try has landed the change, and says nothing of it there', async () => {
    await using stand = openStand();
    const deed = await carriedOut(
      stand,
      connectionWhere(() => true),
      [part(true), part(false)],
    );
    expect(deed.outcome).toEqual({ kind: 'done', landed: [MASTER] });
    expect(deed.parts.map(each => [each.kind, each.outcome])).toEqual([
      ['HostMerge', 'done'],
      ['HostReport', 'withdrawn'],
    ]);
  });

  test('is not settled while the host does not say what became of it', async () => {
    await using stand = openStand();
    const connection = connectionWhere(() => {
      throw away();
    });
    const deed = await carriedOut(stand, connection, [part(true)]);
    expect(deed.outcome).toMatchObject({ kind: 'host', trouble: { reason: 'limited', unsettled: true } });
  });
});

test('a push that may have arrived stays unsettled, for any outcome of later tries', async () => {
  await using stand = openStand();
  const { connection } = connectionAnswering([Object.assign(new Error('cut'), { unsettled: true }), away()]);
  const deed = await performReport(
    intent(stand, [part(true)]),
    deps(stand, connection),
    AbortSignal.timeout(5000),
  );
  expect(deed.outcome).toMatchObject({ kind: 'host', trouble: { reason: 'limited', unsettled: true } });
});

describe('what is known of earlier reports', () => {
  const none = { kind: 'none' } as const;
  const remembered = { kind: 'remembered', memory: { run: 7 } } as const;

  async function earlierGiven(
    isFirstTry: boolean,
    parts: ReportIntent['parts'],
    answers: readonly Answer[],
    more: Pick<ReportIntent, 'repeats'> = {},
  ) {
    await using stand = openStand();
    const given: ReportRequest['earlier'][] = [];
    const alone: boolean[] = [];
    const answer = answering(answers, [], () => '');
    const reporter: Reporter = {
      report: async request => {
        given.push(request.earlier);
        alone.push(request.aloneSince !== undefined);
        expect([undefined, all.since]).toContain(request.aloneSince);
        return answer(request) as ReporterOutcome;
      },
    };
    const landing: Pick<Landing, 'land'> = { land: async () => LANDED };
    const connection = { name: 'local', reporter, landing } as unknown as Connection;
    const all = { ...deps(stand, connection), isFirstTry };
    const wanted = { ...intent(stand, parts), ...more };
    const performed = await performReport(wanted, all, AbortSignal.timeout(5000));
    return { given, alone, parts: performed.parts };
  }

  test('reaches the driver; that nothing was begun only with the first try, and not after a landing', async () => {
    const done = { kind: 'done' } as const;
    const lost = new Error('connection reset');
    const wanted = (merges: boolean, earlier: ReportRequest['earlier']) =>
      earlier === undefined ? [part(merges)] : [{ ...part(merges), earlier }];
    const cases = [
      [await earlierGiven(true, wanted(false, none), [lost, done]), [none, undefined], [true, false]],
      [await earlierGiven(false, wanted(false, none), [done]), [undefined], [false]],
      // Of a comment, too, nothing was begun: the landing writes none that it does not know.
      [await earlierGiven(true, wanted(true, none), [done]), [undefined], [true]],
      [
        await earlierGiven(false, wanted(false, remembered), [lost, done]),
        [remembered, remembered],
        [false, false],
      ],
    ] as const;
    for (const [{ given, alone }, expected, first] of cases)
      expect([given, alone]).toEqual([expected, first]);
  });

  test('does not reach the driver with what repeats a report that the host may have taken', async () => {
    const { given, alone } = await earlierGiven(
      true,
      [{ ...part(false), earlier: none }],
      [{ kind: 'done' }],
      {
        repeats: true,
      },
    );
    expect([given, alone]).toEqual([[undefined], [false]]);
  });

  test('is what the driver returned, with the change it is about; what is too long is dropped', async () => {
    const { parts } = await earlierGiven(
      true,
      [part(false), part(false)],
      [
        { kind: 'failed', text: 'refused', memory: { run: 7 } },
        { kind: 'done', memory: 'x'.repeat(2_000) },
      ],
    );
    expect(parts.map(each => each.remembered)).toEqual([
      { change: change.key, memory: { run: 7 } },
      undefined,
    ]);
  });

  test('is in the intent: the newest of its connection and change, for the first part alone', () => {
    const context = {
      now: systemClock().now(),
      root: 'http://gate.example',
      tenant: 'acme',
      pipeline: { ...gatePipeline(), reporters: { ...gatePipeline().reporters, success: TWO_REPORTERS } },
      jobs: [],
      traceUrl: null,
      landingMode: () => null,
    };
    const intentOf = (about: QueueItem) => {
      const report = about.reports.at(-1);
      if (report === undefined) return expect.unreachable('a report was requested');
      const command = {
        kind: 'report',
        report: report.uuid,
        action: 'success',
        result: 'SUCCESS',
        item: about.uuid,
        change: change.key,
        awaited: true,
      } as const;
      return itemReportIntent(command, about, context);
    };
    const earlierOf = (about: QueueItem) => intentOf(about).parts.map(({ earlier }) => earlier);
    const [lead] = item.changes;
    const first = itemStory().report().item;
    expect(earlierOf(first)).toEqual([{ kind: 'none' }, undefined]);
    const second = itemStory().report('start').reported().report().item;
    expect(earlierOf(second)).toEqual([undefined, undefined]);
    const reports = second.reports.map((record, index) =>
      index > 0 || record.done === null
        ? record
        : {
            ...record,
            done: {
              ...record.done,
              parts: [1, 7, 8].map((run, at) => ({
                kind: 'HostReport' as const,
                connection: at < 2 ? 'local' : 'other',
                startedAt: record.requestedAt,
                endedAt: record.requestedAt,
                tries: 1,
                outcome: 'done' as const,
                remembered: { change: lead.key, memory: { run } },
              })),
            },
          },
    );
    expect(earlierOf({ ...second, reports })).toEqual([remembered, undefined]);
    const [stored] = [queueItemCodec.decode(queueItemCodec.encode({ ...second, reports }))];
    expect(stored.reports).toEqual(reports);

    // The host was away after the same report: it repeats that one. After another one it does not.
    const away = second.reports.map((record, index) =>
      index > 0 || record.done === null
        ? record
        : { ...record, done: { ...record.done, outcome: 'failed' as const, parts: [AWAY] } },
    );
    const again = away.map(record => ({ ...record, action: 'success' as const }));
    expect([away, again].map(each => intentOf({ ...second, reports: each }).repeats)).toEqual([
      undefined,
      true,
    ]);
  });

  test('is that nothing was begun only for reports of this term that were not put back', async () => {
    await using stand = openStand();
    const { store } = stand;
    const outbox = '/reports';
    await ensureNode(store, outbox);
    const put = () => store.multi([outboxOperation(outbox, new Uint8Array([1]))]);
    await put();
    const offers = await createOffers({ store, outbox });
    await put();
    const offered = await offers.next();
    expect(offered.map(({ isFirst }) => isFirst)).toEqual([false, true]);
    expect(await offers.next()).toEqual([]);
    for (const { path } of offered) offers.putBack(path);
    expect((await offers.next()).map(({ isFirst }) => isFirst)).toEqual([false, false]);
  });
});

const AWAY = {
  kind: 'HostReport',
  connection: 'local',
  startedAt: fromMilliseconds(0),
  endedAt: fromMilliseconds(1),
  tries: 1,
  outcome: 'failed',
  reason: 'host',
  text: 'away',
} as const;

const TWO_REPORTERS = [
  { connection: 'local', config: {}, definedAt: 'acme/config@master:zuul.yaml:1' },
  { connection: 'local', config: { second: true }, definedAt: 'acme/config@master:zuul.yaml:1' },
] as const;

test('a report that waits for its host holds up those of its own item, and no other', async () => {
  await using stand = openStand();
  const outbox = '/reports';
  await ensureNode(stand.store, outbox);
  const { store } = stand;
  const events = new EventQueue({ store, path: '/events', codec: pipelineEventCodec, clock: stand.clock });
  await events.prepare();
  const host = Promise.withResolvers<void>();
  const sent: string[] = [];
  const reporter: Reporter = {
    async report({ report: { item: about, action } }) {
      if (about === item.uuid && action === 'start') await host.promise;
      sent.push(`${about === item.uuid ? 'first' : 'second'} ${action}`);
      return { kind: 'done' };
    },
  };
  const connection = { name: 'local', reporter } as unknown as Connection;
  const stop = new AbortController();
  const all = { ...deps(stand, connection), store, outbox, events };
  const loop = processReports(all, await stand.fence('gate'), stop.signal);
  const first = intent(stand, [part(false)]);
  const second = { ...intent(stand, [part(false)]), item: stand.ids.uuid() };
  for (const wanted of [{ ...first, action: 'start' as const }, first, second])
    await store.multi([outboxOperation(outbox, reportIntentCodec.encode(wanted))]);
  await eventually(async () => sent.length === 1, 'the second item is reported');
  host.resolve();
  await eventually(async () => (await events.depth()) === 3, 'all results');
  expect(sent).toEqual(['second success', 'first start', 'first success']);
  expect(await listOutbox(store, outbox)).toEqual([]);
  stop.abort();
  await loop;
});

test('a text that is under way holds the result of its item back, and one that waits does not keep the loop', async () => {
  await using stand = openStand();
  const done: string[] = [];
  const texts = [Promise.withResolvers<void>(), Promise.withResolvers<void>()] as const;
  const progress: LiveProgress = {
    observe() {},
    async run({ inLane }) {
      for (const { promise } of texts)
        await inLane(item, async () => {
          done.push('text begins');
          await promise;
          done.push('text ends');
        });
      done.push('no more texts');
    },
  };
  const held = Promise.withResolvers<void>();
  const reporter: Reporter = {
    async report() {
      done.push('result begins');
      await held.promise;
      return { kind: 'done' };
    },
  };
  const connection = { name: 'local', reporter } as unknown as Connection;
  {
    await using loop = await openLoop(stand, connection, progress);
    await eventually(() => done.length === 1, 'the first text is under way');
    await loop.put(intent(stand, [part(false)]));
    await loop.put({ ...intent(stand, [part(false)]), item: stand.ids.uuid() });
    await eventually(() => done.length === 2, 'the result of the other item is under way');
    expect(done).toEqual(['text begins', 'result begins']);
    texts[0].resolve();
    await eventually(() => done.length === 4, 'the result is under way');
    expect(done.slice(2)).toEqual(['text ends', 'result begins']);
    loop.stop();
    held.resolve();
  }
  expect(done.slice(4)).toEqual(['no more texts']);
});

/** The loop at work on an outbox of its own, until the test ends it. */
async function openLoop(stand: Stand, connection: Connection, progress?: LiveProgress) {
  const outbox = '/reports';
  await ensureNode(stand.store, outbox);
  const events = new EventQueue({
    store: stand.store,
    path: '/events',
    codec: pipelineEventCodec,
    clock: stand.clock,
  });
  await events.prepare();
  const fence = await stand.fence('gate');
  const stop = new AbortController();
  const loop = processReports(
    {
      ...deps(stand, connection),
      clock: systemClock(),
      store: stand.store,
      outbox,
      events,
      ...(progress === undefined ? {} : { progress }),
    },
    fence,
    stop.signal,
  );
  return {
    put: (wanted: ReportIntent) =>
      stand.store.multi([outboxOperation(outbox, reportIntentCodec.encode(wanted))]),
    results: async () => (await events.list()).map(({ value }) => value),
    waiting: async () => (await listOutbox(stand.store, outbox)).length,
    stop: () => stop.abort(),
    async [Symbol.asyncDispose]() {
      stop.abort();
      await loop;
    },
  };
}

test('however many reports of a repository hang, one of another is carried out at once', async () => {
  await using stand = openStand();
  const hanging = Promise.withResolvers<void>();
  let hung = 0;
  const sent: string[] = [];
  const reporter: Reporter = {
    async report({ report: { item: about }, change: { project } }) {
      if (project === change.project) {
        hung += 1;
        await hanging.promise;
      }
      sent.push(about ?? '');
      return { kind: 'done' };
    },
  };
  await using loop = await openLoop(stand, { name: 'local', reporter } as unknown as Connection);
  const other = { ...change, project: projectKey({ connection: 'local', name: 'acme/lib' }) };
  for (let count = 0; count < 40; count++)
    await loop.put({ ...intent(stand, [part(false)]), item: stand.ids.uuid() });
  await eventually(() => hung >= 32, 'as many as share a push are under way');
  const last = stand.ids.uuid();
  await loop.put({ ...intent(stand, [{ ...part(false), change: other }]), item: last });
  await eventually(() => sent.length === 1, 'the other repository gets its report');
  expect(sent).toEqual([last]);
  expect(hung).toBe(32);
  hanging.resolve();
  await eventually(async () => (await loop.results()).length === 41, 'all results');
});

const away = () =>
  Object.assign(new Error('The requested URL returned error: 403'), { retryable: true, reason: 'limited' });

describe('a host that is ill', () => {
  test('and says until when is not asked again at once, and the time goes along with the answer', async () => {
    await using stand = openStand();
    const notBefore = addMilliseconds(stand.clock.now(), 600_000);
    const limited = { reason: 'limited', text: 'too many requests', notBefore } as const;
    const { asked, connection } = connectionAnswering([{ kind: 'later', ...limited }]);
    const deed = await performReport(
      intent(stand, [part(false)]),
      deps(stand, connection),
      AbortSignal.timeout(5000),
    );
    expect(deed.outcome).toEqual({ kind: 'host', trouble: { project: change.project, ...limited } });
    expect(asked).toHaveLength(1);
  });

  test('and takes a landing and limits its words has landed the change; the words are for later', async () => {
    await using stand = openStand();
    const { connection } = connectionAnswering(
      [LANDED],
      [{ kind: 'later', reason: 'limited', text: 'slow' }],
    );
    const deed = await performReport(
      intent(stand, [part(true)]),
      deps(stand, connection),
      AbortSignal.timeout(5000),
    );
    expect(deed.outcome).toEqual({ kind: 'done', landed: [MASTER] });
    expect(deed.unsent).toEqual([part(false)].map(each => ({ ...each, config: { merge: true } })));
  });

  test('leaves its requests in the record of the part, those of every try in order, and no other steps', async () => {
    await using stand = openStand();
    const step = (subject: string, kind: Step['kind'] = 'HostQuery'): Step => {
      const now = stand.clock.now();
      return { kind, subject, startedAt: now, endedAt: now };
    };
    const [failed, landing, comment, merger] = [
      step('merge (lost)'),
      step('merge'),
      step('comment'),
      step('x', 'FetchRefs'),
    ];
    const { connection } = connectionAnswering(
      [Object.assign(away(), { steps: [failed, 'no step'] }), { ...LANDED, steps: [landing, merger] }],
      [{ kind: 'done', steps: [comment] }],
    );
    const { parts } = await performReport(
      intent(stand, [part(true)]),
      deps(stand, connection),
      AbortSignal.timeout(5000),
    );
    expect(parts).toMatchObject([{ kind: 'HostMerge', outcome: 'done', tries: 2 }]);
    expect(parts[0]?.steps).toEqual([failed, landing, comment]);
  });

  test('is the answer to the waiting item, which decides when to ask again', async () => {
    await using stand = openStand();
    const { asked, connection } = connectionAnswering([away()]);
    await using loop = await openLoop(stand, connection);
    await loop.put({ ...intent(stand, [part(true)]), awaited: true });
    await eventually(async () => (await loop.results()).length > 0, 'the answer');
    expect(await loop.results()).toMatchObject([
      {
        kind: 'report-result',
        outcome: { kind: 'host', trouble: { project: change.project, reason: 'limited' } },
        parts: [{ kind: 'HostMerge', outcome: 'failed', reason: 'host', tries: 3 }],
      },
    ]);
    expect(await loop.waiting()).toBe(0);
    expect(asked).toHaveLength(3);
  });

  test('takes a comment without a waiting item when it serves, and does not delay another project', async () => {
    await using stand = openStand();
    const { asked, connection } = connectionAnswering([away(), away(), away(), { kind: 'done' }]);
    await using loop = await openLoop(stand, connection);
    const ill = { ...intent(stand, [part(false)]), requestedAt: systemClock().now() };
    const other = {
      ...part(false),
      change: { ...change, project: 'local/acme/lib' as typeof change.project },
    };
    await loop.put(ill);
    await eventually(() => asked.length === 3, 'the first tries');
    await loop.put({ ...intent(stand, [other]) });
    await eventually(async () => (await loop.results()).length === 2, 'both answers');
    expect((await loop.results()).map(each => each.kind === 'report-result' && each.report)).toEqual([
      expect.not.stringMatching(ill.uuid),
      ill.uuid,
    ]);
  });

  test('has a day to take a note', async () => {
    await using stand = openStand();
    const { connection } = connectionAnswering([away()]);
    await using loop = await openLoop(stand, connection);
    const requestedAt = addMilliseconds(systemClock().now(), -25 * 3_600_000);
    await loop.put({ ...intent(stand, [part(false)]), requestedAt });
    await eventually(async () => (await loop.results()).length === 1, 'the end of it');
    expect(await loop.results()).toMatchObject([{ outcome: { kind: 'failed' } }]);
    expect(stand.logged.join()).toContain('the report is given up');
  });

  test('that took the landing and not the note has landed the change; the note follows', async () => {
    await using stand = openStand();
    const { asked, connection } = connectionAnswering([LANDED], [away(), { kind: 'done' }]);
    await using loop = await openLoop(stand, connection);
    await loop.put({ ...intent(stand, [part(true)]), awaited: true });
    await eventually(async () => (await loop.waiting()) === 0, 'the note');
    expect(asked).toEqual(['deed {"merge":true}', 'words {"merge":true}', 'words {"merge":true}']);
    expect(await loop.results()).toMatchObject([{ outcome: { kind: 'done', landed: [MASTER] } }]);
  });
});

test('an intent leaves its outbox in the instant in which its result reaches the pipeline', async () => {
  await using stand = openStand();
  const outbox = '/reports';
  await ensureNode(stand.store, outbox);
  const events = new EventQueue({
    store: stand.store,
    path: '/events',
    codec: pipelineEventCodec,
    clock: stand.clock,
  });
  await events.prepare();
  const { connection } = connectionAnswering([LANDED]);
  const fence = await stand.fence('gate');
  const stop = new AbortController();
  const loop = processReports(
    { ...deps(stand, connection), store: stand.store, outbox, events },
    fence,
    stop.signal,
  );
  const wanted = intent(stand, [part(true)]);
  await stand.store.multi([outboxOperation(outbox, reportIntentCodec.encode(wanted))]);
  await eventually(async () => (await events.depth()) > 0, 'the result');
  expect(await listOutbox(stand.store, outbox)).toEqual([]);
  expect((await events.list())[0]?.value).toMatchObject({
    kind: 'report-result',
    item: item.uuid,
    report: wanted.uuid,
  });
  stop.abort();
  await loop;
});
