/**
 * Several whole schedulers on one embedded store, with a merger and an executor that answer at once and a code host in memory.
 * A scheduler can be killed between any two of its writes: what it sent is in the store, it hears of nothing any more, and its
 * session ends.
 */

import { gitDriver } from '../../../drivers/git/index.ts';
import { createStoreBuilds } from '../../../src/executor/store-builds.ts';
import { systemClock } from '../../../src/lib/clock.ts';
import { derivedUuid, type IdMaker, type Uuid } from '../../../src/lib/ids.ts';
import type { Log } from '../../../src/lib/log.ts';
import { createStoreRequests } from '../../../src/merger/store-requests.ts';
import type { BuildRequest } from '../../../src/model/build-request.ts';
import {
  buildRequestCodec,
  connectionEventCodec,
  historyRowsCodec,
  mergerRequestCodec,
  queueItemCodec,
  spansCodec,
} from '../../../src/model/codec/records.ts';
import type { HistoryRow } from '../../../src/model/history.ts';
import type { Tenant } from '../../../src/model/layout.ts';
import type { QueueItem } from '../../../src/model/queue-item.ts';
import type { BuildResult } from '../../../src/model/results.ts';
import type { SpanRecord } from '../../../src/model/span.ts';
import { createScheduler, type Scheduler } from '../../../src/scheduler/scheduler.ts';
import { openEmbeddedStore } from '../../../src/store/embedded/server.ts';
import { EventQueue } from '../../../src/store/event-queue.ts';
import { listOutbox, readOutbox } from '../../../src/store/outbox.ts';
import { storePaths } from '../../../src/store/paths.ts';
import type { Operation, Store } from '../../../src/store/port.ts';
import { RequestQueue } from '../../../src/store/request-queue.ts';
import { type LiveTracing, WHOLE_TRACES } from '../../../src/tracing/live-tracing.ts';
import { DEFAULT_SPAN_OPTIONS } from '../../../src/tracing/spans/span-options.ts';
import { BASE_JOB, gateYaml } from '../../fake/layout-text.ts';
import { layoutsInProcess } from '../../fake/layouts-in-process.ts';
import { FaultyStore } from '../store/faulty-store.ts';
import { APP, CONFIG, createFakeHost, type FakeHost } from './fake-host.ts';
import { eventually } from './stand.ts';

export const LAYOUT = `${gateYaml({ precedence: 'normal', require: null, notes: ['start', 'failure'] })}${BASE_JOB}
- job:
    name: unit
- project:
    name: acme/app
    gate:
      jobs: [unit]
`;

export const TENANT: Tenant = {
  name: 'acme',
  projects: [
    { project: CONFIG, trusted: true, includeBranches: [], excludeBranches: [] },
    { project: APP, trusted: false, includeBranches: [], excludeBranches: [] },
  ],
  maxJobTimeout: 10_800,
};

export interface RunningScheduler {
  readonly name: string;
  readonly scheduler: Scheduler;
  readonly faulty: FaultyStore;
  /** How `run` ended; pending while it runs. */
  readonly ended: Promise<unknown>;
  readonly lines: string[];
  stop(): Promise<void>;
  /** As kill -9: nothing it does has an effect from now on, and its session is ended by the store. */
  kill(): Promise<void>;
}

export interface Schedulers extends AsyncDisposable {
  readonly host: FakeHost;
  readonly store: Store;
  readonly paths: ReturnType<typeof storePaths>;
  start(name: string, options?: StartOptions): Promise<RunningScheduler>;
  /** Builds are answered at once unless held. */
  holdBuilds(): void;
  releaseBuilds(): void;
  /** The host sends an approval; returns when that is durable. */
  approve(id: string): Promise<void>;
  /** Another zuul.yaml is pushed. */
  push(layout: string): Promise<void>;
  items(pipeline?: string): Promise<readonly QueueItem[]>;
  history(): Promise<readonly HistoryRow[]>;
  spans(): Promise<readonly SpanRecord[]>;
  /** Resolves when no item is left and no event waits. @param deadlineMs until it is given up; default 60 s. */
  quiet(deadlineMs?: number): Promise<void>;
}

interface StartOptions {
  readonly tenant?: Tenant;
  /** Default: that tenant alone. */
  readonly tenants?: readonly Tenant[];
  /** Called for each multi-write before it is sent and after it was applied; a promise that never settles is a crash there. */
  readonly before?: (index: number, operations: readonly Operation[]) => Promise<void> | void;
  readonly after?: (index: number) => Promise<void> | void;
  /** It is killed there: the multi of that number is not sent, or was applied and its reply is lost. */
  readonly dies?: { readonly at: number; readonly when: 'before' | 'after' };
}

/** Where sessions come from, and how a server ends one. */
export interface SessionSource {
  connect(): Promise<Store>;
  expire(sessionId: string): Promise<void>;
  close(): Promise<void>;
}

function embeddedSessions(): SessionSource {
  const server = openEmbeddedStore({ file: ':memory:' });
  return {
    connect: async () => server.connect(),
    expire: id => server.expire(id),
    close: () => server.close(),
  };
}

export interface WorldOptions {
  /** Default: everything is traced. */
  readonly tracing?: LiveTracing;
  /** How a build ends; default well. */
  readonly verdict?: (request: BuildRequest) => BuildResult;
}

const EVERYTHING: LiveTracing = {
  spans: () => DEFAULT_SPAN_OPTIONS,
  isSampled: () => true,
  policy: () => WHOLE_TRACES,
};

export async function openSchedulers(
  layout = LAYOUT,
  server = embeddedSessions(),
  { tracing = EVERYTHING, verdict = () => 'SUCCESS' }: WorldOptions = {},
): Promise<Schedulers> {
  const store = await server.connect();
  const paths = storePaths('/gatehouse');
  const clock = systemClock();
  const host = createFakeHost(layout);
  const stop = new AbortController();
  const running: RunningScheduler[] = [];
  let made = 0;
  const ids: IdMaker = { uuid: () => derivedUuid('schedulers', String(++made)) };
  let held: PromiseWithResolvers<void> | undefined;
  const workers = [merge(), build()];

  async function merge(): Promise<void> {
    const session = await server.connect();
    const queue = new RequestQueue({
      store: session,
      path: paths.requests('merge'),
      codec: mergerRequestCodec,
    });
    await queue.prepare();
    const requests = createStoreRequests({ store: session, paths, queue, clock, worker: 'merger' });
    while (!stop.signal.aborted)
      for (const claimed of await requests.claim(1, stop.signal))
        await claimed.complete(host.answer(claimed.request));
  }

  async function build(): Promise<void> {
    const session = await server.connect();
    const queue = new RequestQueue({
      store: session,
      path: paths.requests('build'),
      codec: buildRequestCodec,
    });
    await queue.prepare();
    const builds = createStoreBuilds(queue, { store: session, paths, clock, ids, worker: 'executor' });
    const over = new Promise<void>(resolve => stop.signal.addEventListener('abort', () => resolve()));
    for (;;) {
      const taken = await builds.take(() => true, stop.signal);
      if (taken === undefined) return;
      const { item, buildset, uuid } = taken.request;
      const common = { item, buildset, build: uuid, worker: 'executor' } as const;
      await taken.report({ kind: 'build-started', uuid: ids.uuid(), ...common, at: clock.now() });
      await Promise.race([held?.promise, over]);
      const result = { result: verdict(taken.request), execution: null, at: clock.now() } as const;
      await taken.complete({ kind: 'build-result', uuid: ids.uuid(), ...common, ...result }, []);
    }
  }

  const events = new EventQueue({
    store,
    path: paths.connection('local').queue,
    seenPath: paths.connection('local').seen,
    codec: connectionEventCodec,
    clock,
  });

  async function send(payload: { readonly [name: string]: string | boolean }, id: string): Promise<void> {
    await events.prepare();
    const uuid: Uuid = derivedUuid('delivery', id);
    const at = clock.now();
    const event = {
      uuid,
      connection: 'local',
      deliveryId: id,
      type: 'delivery',
      payload,
      sampled: tracing.isSampled(uuid),
    };
    await events.offer({ ...event, receivedAt: at, storedAt: at }, id);
  }

  async function rows<T>(path: string, decode: (bytes: Uint8Array) => readonly T[]): Promise<readonly T[]> {
    const names = (await store.children(path)) ?? [];
    const nodes = await store.getMany(names.map(name => `${path}/${name}`));
    return nodes.flatMap(node => (node === undefined ? [] : decode(node.data)));
  }

  /** Oldest first; names begin with sizes. */
  async function outbox<T>(path: string, decode: (bytes: Uint8Array) => readonly T[]): Promise<readonly T[]> {
    return (await readOutbox(store, await listOutbox(store, path))).flatMap(({ data }) => decode(data));
  }

  async function items(pipeline = 'gate'): Promise<readonly QueueItem[]> {
    return rows(paths.pipeline('acme', pipeline).items, bytes => [queueItemCodec.decode(bytes)]);
  }

  return {
    host,
    store,
    paths,
    async start(name, { tenant = TENANT, tenants = [tenant], before, after, dies } = {}) {
      const session = await server.connect();
      const faulty = new FaultyStore(session);
      let sent = 0;
      let applied = 0;
      const kill = async () => {
        faulty.giveUp();
        await server.expire(session.sessionId);
      };
      const die = () => {
        void kill();
        return new Promise<never>(() => {});
      };
      faulty.beforeMulti = operations => {
        sent += 1;
        return dies?.when === 'before' && dies.at === sent ? die() : before?.(sent, operations);
      };
      faulty.afterMulti = () => {
        applied += 1;
        return dies?.when === 'after' && dies.at === applied ? die() : after?.(applied);
      };
      const lines: string[] = [];
      const log = logTo(lines, name);
      const scheduler = await schedulerOn(faulty, host, { name, tenants, ids, log, tracing });
      const end = new AbortController();
      const ended = scheduler.run(end.signal).then(
        () => undefined,
        error => error,
      );
      const started: RunningScheduler = {
        name,
        scheduler,
        faulty,
        ended,
        lines,
        async stop() {
          end.abort(new Error('stop'));
          await ended;
          await session.close();
        },
        kill,
      };
      running.push(started);
      return started;
    },
    holdBuilds() {
      held = Promise.withResolvers();
    },
    releaseBuilds() {
      held?.resolve();
      held = undefined;
    },
    approve: id => {
      host.open(id);
      return send({ id }, `approve-${id}`);
    },
    push(next) {
      host.layout = next;
      return send({ config: true }, `push-${derivedUuid(next)}`);
    },
    items,
    history: () => outbox(paths.historyOutbox, bytes => historyRowsCodec.decode(bytes)),
    spans: () => outbox(paths.spanOutbox, bytes => spansCodec.decode(bytes)),
    quiet: (deadlineMs = 60_000) =>
      eventually(
        async () => {
          const queues = [
            paths.connection('local').queue,
            paths.tenant('acme').triggerQueue,
            paths.pipeline('acme', 'gate').eventQueue,
            paths.pipeline('acme', 'gate').items,
            paths.reportOutbox('acme', 'gate'),
          ];
          const waiting = await Promise.all(queues.map(path => store.children(path)));
          return waiting.every(names => names?.length === 0);
        },
        'nothing is left to do',
        deadlineMs,
      ),
    async [Symbol.asyncDispose]() {
      held?.resolve();
      stop.abort(new Error('the end'));
      for (const each of running) each.faulty.giveUp();
      await Promise.all(workers);
      await server.close();
    },
  };
}

/** A whole scheduler. */
export function schedulerOn(
  store: Store,
  host: FakeHost,
  parts: {
    readonly name: string;
    readonly tenants: readonly Tenant[];
    readonly ids: IdMaker;
    readonly log: Log;
    readonly tracing?: LiveTracing;
  },
): Promise<Scheduler> {
  return createScheduler({
    clock: systemClock(),
    wall: Date.now,
    ids: parts.ids,
    log: parts.log,
    store,
    paths: storePaths('/gatehouse'),
    connections: new Map([['local', host.connection(parts.name)]]),
    drivers: new Map([['git', gitDriver]]),
    tenants: parts.tenants,
    openLayouts: drivers => layoutsInProcess(drivers, () => performance.now()),
    places: { canonicalName: project => project },
    webRoot: 'http://localhost',
    tracing: parts.tracing ?? EVERYTHING,
    name: parts.name,
  });
}

function logTo(lines: string[], name: string): Log {
  const write = (level: string) => (facts: object, text: string) => {
    const error = 'err' in facts ? ` ${String(facts.err)}` : '';
    lines.push(`${name} ${level}: ${text}${error}`);
  };
  return {
    debug: write('debug'),
    info: write('info'),
    warn: write('warn'),
    error: write('error'),
    child: () => logTo(lines, name),
  };
}
