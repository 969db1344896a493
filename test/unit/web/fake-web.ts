/** A web over made-up facts, listening on a free port of this machine. */

import { Buffer } from 'node:buffer';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import type { TenantSnapshot } from '../../../src/api/tenant-snapshot.ts';
import type { WebhookVerdict } from '../../../src/driver/intake.ts';
import { explainItem } from '../../../src/explain/explain.ts';
import { type History, openHistory } from '../../../src/history/history.ts';
import { addMilliseconds, type Clock, fromMilliseconds, type Nanoseconds } from '../../../src/lib/clock.ts';
import { sha256, spanIdOf, traceIdOf } from '../../../src/lib/ids.ts';
import { createListeners } from '../../../src/lib/listeners.ts';
import { createMetrics } from '../../../src/metrics/registry.ts';
import { OPEN_ACCESS, type RootAccess, type TenantAccess } from '../../../src/model/authorization.ts';
import type { ConnectionReport } from '../../../src/model/connection-health.ts';
import { DEFAULT_NOTICE_BOUNDS } from '../../../src/model/notice-bounds.ts';
import { endOfItem, type QueueItem } from '../../../src/model/queue-item.ts';
import type { SpanRecord } from '../../../src/model/span.ts';
import type { AuthRealm } from '../../../src/settings/auth-keys.ts';
import type { RegisteredComponent } from '../../../src/store/component-view.ts';
import type { CallerContext } from '../../../src/web/auth/caller-context.ts';
import { tokenVerifier } from '../../../src/web/auth/token.ts';
import { createWeb, type WebLimits } from '../../../src/web/create-web.ts';
import type { ComponentHealth, SpanIntake, StoreContact, WebDeps } from '../../../src/web/deps.ts';
import { INSTALLATION } from '../../fake/installation.ts';
import {
  checkItems,
  finishedItems,
  gateItems,
  NOW,
  sampleDecisions,
  samplePipeline,
  stateOf,
} from './sample-gate.ts';
import { at } from './sample-item.ts';

const LIMITED: ConnectionReport = {
  state: 'limited',
  text: 'HTTP 403',
  limitedUntil: null,
  lastEventAt: fromMilliseconds(1_795_000_000_000),
  missed: 2,
  faults: [],
  at: fromMilliseconds(1_795_000_001_000),
  holder: 'ci1/4711',
  waitingLanes: 1,
  waiting: [
    {
      lane: 'local/acme/app',
      reason: 'limited',
      text: 'HTTP 403',
      since: fromMilliseconds(1_795_000_000_500),
      retryAt: fromMilliseconds(1_795_000_030_000),
    },
  ],
};

/** Of connection `hooks`; it takes 2 webhooks per second. */
export const MOST_WEBHOOK_BYTES = 1_500_000;

export interface FakeWeb {
  readonly url: string;
  /** Where the command line asks. */
  readonly socket: string;
  /** Replaces tenant `main` and notifies the web. */
  change(snapshot: TenantSnapshot): void;
  setNow(now: Nanoseconds): void;
  readonly history: History;
  readonly stored: { connection: string; deliveryId: string }[];
  readonly dequeued: string[];
  /** What was asked to enter, as `<pipeline>: <change>`. */
  readonly enqueued: string[];
  /** Requests to pause, drain or resume. */
  readonly halted: string[];
  /** Items whose failed jobs were to run again. */
  readonly rerun: string[];
  /** The items of each request to promote. */
  readonly promoted: (readonly string[])[];
  /** Traces that dequeues were asked from, as far as they were believed. */
  readonly contexts: (CallerContext | undefined)[];
  readonly warnings: string[];
  /** Undefined: tracing is off. */
  spanIntake: SpanIntake | undefined;
  health: ComponentHealth[];
  /** The service knows its tenants. */
  started: boolean;
  failStore: boolean;
  contact: StoreContact;
  components: readonly RegisteredComponent[];
  readonly asked: string[];
  /** By tenant; others are open. */
  access: { readonly [tenant: string]: TenantAccess };
  rootAccess: RootAccess;
  logs: Map<string, { text: string; complete: boolean }>;
  /** What builds left, by path. */
  files: Map<string, { readonly [path: string]: string }>;
  close(): Promise<void>;
}

export function sampleSnapshot(
  items: { readonly gate: readonly QueueItem[]; readonly check: readonly QueueItem[] } = {
    gate: gateItems(),
    check: checkItems(),
  },
): TenantSnapshot {
  const none = { triggerEvents: 0, resultEvents: 0, managementEvents: 0 };
  return {
    pipelines: [
      {
        pipeline: samplePipeline('check', { description: 'Tests a change as soon as it is proposed' }),
        state: stateOf(items.check, 0),
        ...none,
      },
      {
        pipeline: samplePipeline('gate', { description: 'Tests what will be merged, and merges it' }),
        state: stateOf(items.gate, 5, 'integrated'),
        ...none,
        resultEvents: 1,
      },
      { pipeline: samplePipeline('post'), state: stateOf([], 0), ...none },
    ],
    reconfiguredAt: at(-600),
    triggerEvents: 2,
    managementEvents: 0,
    connectionEvents: { local: 1 },
    configErrors: [
      {
        severity: 'error',
        project: gateItems()[0]!.changes[0].project,
        branch: 'master',
        file: '.zuul.yaml',
        line: 4,
        column: 3,
        code: 'unknown-key',
        text: 'unknown key "tiemout", did you mean "timeout"?',
      },
    ],
    hostFaults: [
      {
        connection: 'local',
        project: null,
        severity: 'warning',
        text: 'lands changes of a cycle one by one',
      },
    ],
    projects: [
      {
        project: gateItems()[1]!.changes[0].project,
        canonicalName: 'git.example.org/acme/app',
        trusted: false,
      },
      {
        project: gateItems()[0]!.changes[0].project,
        canonicalName: 'git.example.org/acme/lib',
        trusted: false,
      },
    ],
    semaphores: [
      { name: 'db', scope: 'tenant', max: 2 },
      { name: 'licence', scope: 'global', max: 1 },
    ],
    jobs: [{ name: 'unit-tests' }, { name: 'lint' }],
    tracing: { waiting: 12, oldestWaiting: at(299), delivered: 4031, lost: {}, problem: null, sender: null },
  };
}

export interface FakeOptions {
  readonly limits?: WebLimits;
  readonly sse?: Partial<WebDeps['sse']>;
  readonly snapshot?: TenantSnapshot;
  readonly clock?: Clock;
  readonly overrides?: Partial<WebDeps>;
  readonly port?: number;
  /** Whose tokens count. */
  readonly realms?: readonly AuthRealm[];
}

export async function fakeWeb(options: FakeOptions = {}): Promise<FakeWeb> {
  const history = await openHistory({ kind: 'sqlite', path: ':memory:' });
  await history.record([
    ...finishedItems().map(item => ({ kind: 'item', item }) as const),
    { kind: 'decisions', decisions: sampleDecisions() },
  ]);
  const listeners = createListeners<[tenant: string]>();
  let snapshot = options.snapshot ?? sampleSnapshot();
  let now = NOW;
  let url = 'http://127.0.0.1:1';
  const delivered = new Set<string>();
  const realms = options.realms ?? [];

  const deps: WebDeps = {
    clock: options.clock ?? { now: () => now, monotonic: () => 0 },
    log: { info: () => {}, warn: (_facts, text) => void fake.warnings.push(text) },
    version: '0.1.0',
    root: () => url,
    sse: {
      maxClients: 500,
      maxClientsPerAddress: 50,
      heartbeat: 15,
      maxBacklogBytes: 1024 * 1024,
      gatherMs: 100,
      ...options.sse,
    },
    metrics: accept => createMetrics().exposition(accept),
    countWebhook: () => {},
    traceUi: () => ({
      template: 'http://localhost:16686/trace/{trace_id}?uiFind={span_id}',
      service: 'gatehouse',
    }),
    tenants: () => (fake.started ? ['main'] : []),
    snapshot: tenant => (tenant === 'main' && fake.started ? snapshot : undefined),
    heldByPlaybooks: async () => [],
    nodes: async () => ({ hosts: [], requests: [] }),
    holdNode: async () => 'gone',
    holds: async () => [],
    hold: async () => 'stored',
    deleteHold: async () => 'gone',
    onChange: listeners.add,
    history,
    spansOf: rootSpan,
    installation: () => INSTALLATION,
    explain: explainItem,
    noticeBounds: () => DEFAULT_NOTICE_BOUNDS,
    connectionReport: name => (name === 'local' ? LIMITED : undefined),
    connections: () => [
      { name: 'local', driver: 'git', canonicalHostname: 'git.example.org' },
      {
        name: 'hooks',
        driver: 'fake',
        canonicalHostname: 'hooks.example.org',
        webhook: { verify, maxBytes: MOST_WEBHOOK_BYTES, ratePerSecond: 2 },
      },
    ],
    async storeEvent(connection, event) {
      if (fake.failStore) throw new Error('the store is away');
      if (delivered.has(event.deliveryId)) return 'duplicate';
      delivered.add(event.deliveryId);
      fake.stored.push({ connection, deliveryId: event.deliveryId });
      return 'stored';
    },
    describe: async () => ({ kind: 'absent' }),
    freezeBranch: async () => ({ kind: 'frozen', jobs: [] }),
    async readLog({ build, offset, limit }) {
      const log = fake.logs.get(build);
      if (log === undefined) return undefined;
      const bytes = Buffer.from(log.text).subarray(offset, offset + limit);
      return { bytes, complete: log.complete && offset + bytes.length >= Buffer.byteLength(log.text) };
    },
    async openLog({ build }) {
      const log = fake.logs.get(build);
      return log?.complete === true ? Readable.from([gzipSync(log.text)]) : undefined;
    },
    async logFiles({ build }) {
      const files = fake.files.get(build);
      if (files === undefined) return undefined;
      const listed = Object.entries(files).toSorted(([a], [b]) => (a < b ? -1 : 1));
      return {
        files: listed.map(([path, text]) => ({
          path,
          bytes: Buffer.byteLength(text),
          sha256: sha256(text),
          modified: 1_795_200_000,
        })),
      };
    },
    async openLogFile({ build, sha256: wanted }) {
      const text = Object.values(fake.files.get(build) ?? {}).find(each => sha256(each) === wanted);
      return text === undefined ? undefined : Readable.from([gzipSync(text)]);
    },
    async enqueue({ pipeline, wanted }) {
      fake.enqueued.push(`${pipeline}: ${JSON.stringify(wanted)}`);
      return wanted.kind === 'change' && wanted.key.endsWith('/gone') ? 'no-such-change' : 'stored';
    },
    async dequeue({ item, context }) {
      fake.dequeued.push(item.uuid);
      fake.contexts.push(context);
    },
    async halt({ pipeline, queue, wanted, reason }) {
      fake.halted.push(`${wanted} ${pipeline} ${queue ?? '-'} ${reason}`.trim());
    },
    async rerun({ item }) {
      fake.rerun.push(item.uuid);
    },
    async promote({ pipeline, items }) {
      if (pipeline.manager !== 'dependent') return false;
      fake.promoted.push(items.map(({ uuid }) => uuid));
      return true;
    },
    spanIntake: () => fake.spanIntake,
    auth: {
      realms,
      tokens: tokenVerifier(realms, { now: () => now, monotonic: () => performance.now() }, () => {}),
      rules: {
        tenants: () => deps.tenants(),
        ofTenant: tenant =>
          deps.tenants().includes(tenant) ? (fake.access[tenant] ?? OPEN_ACCESS) : undefined,
        ofRoot: () => fake.rootAccess,
      },
    },
    health: () => fake.health,
    contact: () => fake.contact,
    components: () => fake.components,
    async askComponent(id, wanted) {
      if (!fake.components.some(component => component.id === id)) return 'gone';
      fake.asked.push(`${id} ${wanted}`);
      return 'asked';
    },
    ...options.overrides,
  };
  const web = createWeb(deps, options.limits);
  const directory = await mkdtemp(path.join(tmpdir(), 'gatehouse-web-'));
  const socket = path.join(directory, 'web.sock');
  const fake: FakeWeb = {
    socket,
    get url() {
      return url;
    },
    change(next) {
      snapshot = next;
      listeners.call('main');
    },
    setNow(next) {
      now = next;
    },
    history,
    stored: [],
    dequeued: [],
    enqueued: [],
    rerun: [],
    halted: [],
    promoted: [],
    contexts: [],
    warnings: [],
    spanIntake: undefined,
    health: [{ component: 'scheduler', ready: true }],
    started: true,
    failStore: false,
    contact: { kind: 'connected' },
    components: sampleComponents(),
    asked: [],
    access: {},
    rootAccess: OPEN_ACCESS,
    logs: new Map(),
    files: new Map(),
    async close() {
      await web.close();
      await rm(directory, { recursive: true });
      await history.close();
    },
  };
  const { port } = await web.listen({ address: '127.0.0.1', port: options.port ?? 0 });
  url = `http://127.0.0.1:${port}`;
  await web.listenLocally(socket);
  return fake;
}

function sampleComponents(): readonly RegisteredComponent[] {
  const component = {
    version: '0.1.0',
    state: 'running',
    startedAt: at(-3600),
    labels: [],
    address: null,
  } as const;
  return [
    { ...component, id: 'scheduler-0', kind: 'scheduler', host: 'ci1', pid: 11 },
    {
      ...component,
      id: 'executor-4',
      kind: 'executor',
      host: 'ci2',
      pid: 12,
      state: 'paused',
      labels: ['linux'],
      ansibleVersions: ['9', '11'],
      address: 'http://ci2:9443',
      wanted: 'paused',
      walls: [{ name: 'cpu', state: 'missing', text: 'this system has no cgroup v2' }],
    },
    { ...component, id: 'web-2', kind: 'web', host: 'ci1', pid: 13 },
  ];
}

function rootSpan(item: QueueItem): readonly SpanRecord[] {
  const traceId = traceIdOf(item.uuid);
  return [
    {
      traceId,
      spanId: spanIdOf(item.uuid),
      parent: null,
      name: `QueueItem ${item.pipeline}`,
      kind: 'server',
      start: item.enqueuedAt,
      end: endOfItem(item),
      attributes: {
        'gatehouse.tenant': item.tenant,
        resets: item.earlier.length,
        share: 0.5,
        done: false,
        changes: ['a', 'b'],
      },
      events: [{ at: addMilliseconds(item.enqueuedAt, 5), name: 'moved', attributes: {} }],
      links: [
        {
          traceId: traceIdOf(item.origin.event),
          spanId: spanIdOf(item.origin.event),
          attributes: { 'gatehouse.link.relation': 'follows' },
        },
      ],
      status:
        item.phase.phase === 'left' && item.phase.result === 'FAILURE'
          ? { code: 'error', message: 'job-failed' }
          : { code: 'unset' },
    },
  ];
}

/** Signed by a header that says `right`; of interest when its type is `push`. */
async function verify(
  headers: { readonly [name: string]: string | readonly string[] | undefined },
  body: Uint8Array,
): Promise<WebhookVerdict> {
  if (headers['x-signature'] !== 'right')
    return { kind: 'refused', status: 401, reason: 'the signature does not fit the body' };
  if (headers['content-type'] !== 'application/json')
    return { kind: 'refused', status: 415, reason: 'send application/json' };
  let payload: unknown;
  try {
    payload = JSON.parse(Buffer.from(body).toString());
  } catch {
    return { kind: 'refused', status: 400, reason: 'the body is not JSON' };
  }
  if (typeof payload !== 'object' || payload === null || Array.isArray(payload))
    return { kind: 'refused', status: 400, reason: 'the body is not an object' };
  if (headers['x-type'] !== 'push') return { kind: 'ignored', reason: 'not of interest' };
  return {
    kind: 'accepted',
    event: { deliveryId: String(headers['x-delivery']), type: 'push', payload: {} },
  };
}
