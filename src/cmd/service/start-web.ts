/**
 * The web of this process. Its port stays open independently of the store; sessions with the store are attached and lost:
 *
 *     const web = await openWeb(core, parts);             // listens; answers 503 to requests that need the store
 *     const component = await web.join(session);          // a session: the view is read (again), webhooks are stored
 *     …the session is lost: last known state, marked as stale; webhooks get 503…
 *     const again = await web.join(anotherSession);
 */
import type { TenantSnapshot } from '../../api/tenant-snapshot.ts';
import { driversOfConnections } from '../../driver/language-of.ts';
import { type BucketLogs, bucketLogs } from '../../executor/log-store/bucket-logs.ts';
import { openS3Bucket } from '../../executor/log-store/s3-bucket.ts';
import { explainItem } from '../../explain/explain.ts';
import type { History } from '../../history/history.ts';
import { createListeners } from '../../lib/listeners.ts';
import { eventAgeSeconds } from '../../model/event-age.ts';
import { noticeBounds } from '../../model/notice-bounds.ts';
import type { AuthRealm } from '../../settings/auth-keys.ts';
import { askComponent } from '../../store/component-view.ts';
import { isOutOfContact } from '../../store/connection.ts';
import type { Keystore } from '../../store/keystore/keystore.ts';
import type { Store } from '../../store/port.ts';
import { createRenewingStore } from '../../store/renewing-store.ts';
import { slotsOfPlaybooks } from '../../store/semaphore-slots.ts';
import { itemSpans } from '../../tracing/spans/item-spans.ts';
import { DEFAULT_SPAN_OPTIONS } from '../../tracing/spans/span-options.ts';
import { tokenVerifier } from '../../web/auth/token.ts';
import { createWeb, type Web } from '../../web/create-web.ts';
import type { ComponentHealth, WebDeps } from '../../web/deps.ts';
import { VERSION } from '../version.ts';
import { accessRules } from './access-rules.ts';
import { buildLogs } from './build-logs.ts';
import { type Contact, followContact } from './contact.ts';
import type { Component } from './core.ts';
import { type FrozenBranches, frozenBranches } from './frozen-branches.ts';
import { holdActs } from './hold-acts.ts';
import { leavingItems } from './leaving-items.ts';
import { type LiveView, openLiveView } from './live-view.ts';
import type { ProcessCore } from './manage-component.ts';
import { nodeView } from './node-view.ts';
import { openLayouts } from './open-layouts.ts';
import { operatorActs } from './operator-acts.ts';
import { installationOf, onlyHost } from './own-installation.ts';
import { viewMeasurements } from './service-metrics.ts';
import { createSpanIntake } from './span-intake.ts';
import { createThrottledSignal } from './throttled-signal.ts';
import { snapshotOf } from './web-view.ts';
import { createWebhookIntake, type WebhookStore } from './webhook-intake.ts';

/** What the web shows besides the store. */
export interface WebParts {
  readonly history: History;
  readonly health: () => readonly ComponentHealth[];
  /** Realms whose tokens are accepted. */
  readonly realms: readonly AuthRealm[];
}

/** Listens until disposed. */
export interface OpenWeb extends AsyncDisposable {
  /** The bound port. */
  readonly port: number;
  /** Resolves when the store was first read; rejects when it never will be. */
  readonly ready: Promise<void>;
  /**
   * Uses the session until the component is closed, which closes the session and leaves the port open. One at a time.
   *
   * @throws KeystoreLocked
   */
  join(session: Store): Promise<Component>;
}

/** Listens at the address and, if no other process does, at the command socket. @throws when either cannot be bound. */
export async function openWeb(core: ProcessCore, parts: WebParts): Promise<OpenWeb> {
  await using opening = new AsyncDisposableStack();
  const { clock, paths, ids, settings, connections } = core;
  const log = core.log.child({ component: 'web' });
  const renewing = createRenewingStore();
  const { store } = renewing;
  opening.defer(() => store.close());
  const contact = opening.use(followContact(store, clock, core.storeName));
  const intake = createWebhookIntake({
    store,
    paths,
    connections,
    contact,
    clock,
    ids,
    host: core.host,
    tracing: core.tracing,
    log,
  });
  const shown = openShownView(store, { ...core, log }, contact);
  opening.defer(() => shown.close());
  const frozen = opening.use(
    frozenBranches({
      ...{ store, paths, drivers: driversOfConnections(connections, core.drivers.byName) },
      openLayouts: drivers => openLayouts(drivers, core.drivers, core.messengers),
    }),
  );
  opening.use(core.metrics.source(() => viewMeasurements(shown.view())));
  const { logStore } = settings;
  const bucket = logStore === undefined ? undefined : bucketLogs(opening.use(openS3Bucket(logStore)));
  const web = createWeb(
    webDeps({ ...core, log }, { ...parts, store, contact, intake, shown, frozen, bucket }),
    settings.web,
  );
  opening.defer(() => web.close());
  const where = { address: settings.web.listenAddress, port: settings.web.port };
  const { port } = await web.listen(where);
  const { commandSocket: socket } = settings.web;
  if ((await web.listenLocally(socket)) === 'taken')
    log.warn(
      { socket },
      'another process listens at [web] command_socket: commands on this machine reach only that process',
    );
  const lifetime = opening.move();
  return {
    port,
    ready: shown.ready,
    async join(session) {
      await core.keyring?.open(session, paths, clock);
      renewing.attach(session);
      return webComponent(session, web, () => shown.view() !== undefined);
    },
    [Symbol.asyncDispose]: () => lifetime.disposeAsync(),
  };
}

function webComponent(session: Store, web: Web, hasRead: () => boolean): Component {
  const ended = Promise.withResolvers<void>();
  return {
    name: 'web',
    ended: ended.promise,
    notReady: () => (hasRead() ? undefined : 'reading the store'),
    pause() {},
    resume() {},
    drain: () => web.close(),
    async close() {
      ended.resolve();
      await session.close();
    },
  };
}

interface ShownView {
  /** Undefined: not read yet. */
  view(): LiveView | undefined;
  readonly ready: Promise<void>;
  /** Called with each tenant whose view changed. */
  onChange(listener: (tenant: string) => void): Disposable;
  close(): void;
}

/** Opens the view at the first contact; listeners may subscribe before. */
function openShownView(store: Store, core: ProcessCore, contact: Contact): ShownView {
  const listeners = createListeners<[tenant: string]>();
  const notify = listeners.call;
  let view: LiveView | undefined;
  const stack = new DisposableStack();
  const notifyAll = () => view?.live.tenants().forEach(notify);
  stack.use(contact.onChange(notifyAll));
  const ready = openLiveView(store, core).then(opened => {
    view = stack.disposed ? undefined : stack.use(opened);
    if (view === undefined) return opened[Symbol.dispose]();
    stack.use(view.live.onChange(notify));
    stack.use(view.waiting.onChange(notify));
    stack.use(view.components.onChange(notifyAll));
    const throttled = stack.adopt(createThrottledSignal(notifyAll), signal => signal.close());
    stack.use(view.spanOutbox.onChange(throttled.touch));
    stack.use(view.senderReport.onChange(throttled.touch));
    stack.use(view.onConnectionReport(throttled.touch));
    notifyAll();
  });
  ready.catch(error => {
    // Expected on close, which ends the wait for contact.
    if (!isOutOfContact(error)) core.log.error({ err: error }, 'the web cannot read the store');
  });
  return {
    view: () => view,
    ready,
    onChange: listeners.add,
    close: () => stack.dispose(),
  };
}

/** With a keystore; opened when the first key is asked for, and over all sessions. */
function publicKeysOf({ keyring, paths, clock }: ProcessCore, store: Store): Pick<WebDeps, 'publicKeys'> {
  if (keyring === undefined) return {};
  let opened: Keystore | undefined;
  return {
    async publicKeys(project) {
      opened ??= await keyring.open(store, paths, clock);
      return opened.publicKeys(project);
    },
  };
}

interface WebInsides extends WebParts {
  readonly store: Store;
  readonly contact: Contact;
  readonly intake: WebhookStore;
  readonly shown: ShownView;
  readonly frozen: FrozenBranches;
  readonly bucket: BucketLogs | undefined;
}

function webDeps(core: ProcessCore, insides: WebInsides): WebDeps {
  const { clock, paths, settings, connections, log } = core;
  const { store, contact, shown } = insides;
  const components = () => shown.view()?.components.list() ?? [];

  function snapshot(tenant: string): TenantSnapshot | undefined {
    const view = shown.view();
    if (view === undefined) return undefined;
    const isOn = core.tracing.settings().kind === 'on';
    const spans = isOn ? { outbox: view.spanOutbox, report: view.senderReport } : undefined;
    return snapshotOf(tenant, { ...view, clock, connections, spans });
  }

  return {
    ...{ clock, log, version: VERSION, root: core.root },
    sse: settings.web.sse,
    traceUi: () => core.tracing.spans()?.viewer ?? null,
    tenants: () => shown.view()?.live.tenants() ?? [],
    snapshot,
    heldByPlaybooks: tenant => slotsOfPlaybooks(store, paths, tenant),
    onChange: shown.onChange,
    history: insides.history,
    ...publicKeysOf(core, store),
    leavingItems: wanted => leavingItems(store, paths.historyOutbox, wanted),
    spansOf: item => itemSpans(item, core.tracing.spans() ?? DEFAULT_SPAN_OPTIONS),
    installation: () =>
      installationOf(core.tracing.settings(), {
        version: VERSION,
        instance: shown.view()?.installation,
        host: onlyHost(settings, core.host),
      }),
    explain: explainItem,
    connections: () => [...connections.values()],
    noticeBounds: (tenant, pipeline) => noticeBounds(core.notices, tenant, pipeline),
    connectionReport: name => shown.view()?.connectionReport(name),
    async storeEvent(connection, event) {
      const outcome = await insides.intake.store(connection, event);
      const value = eventAgeSeconds({ ...event, receivedAt: clock.now() });
      if (outcome === 'stored' && value !== undefined)
        core.metrics.record([{ metric: 'gatehouse_event_age_seconds', labels: { connection }, value }]);
      return outcome;
    },
    freezeBranch: question => insides.frozen.freeze(question),
    describe: (tenant, thing) => insides.frozen.describe(tenant, thing),
    keepLogs: settings.executor.keepLogs,
    ...buildLogs({ settings: settings.executor, components, bucket: insides.bucket, log }),
    ...{ ...operatorActs(core, store, snapshot), ...holdActs(core, store) },
    ...nodeView({ ...core, components }, store),
    spanIntake: createSpanIntake(core, store),
    auth: {
      realms: insides.realms,
      tokens: tokenVerifier(insides.realms, clock, (realm, reason) =>
        log.warn({ realm }, `tokens of realm ${realm} cannot be checked: ${reason}`),
      ),
      rules: accessRules(() => shown.view()?.live),
    },
    health: insides.health,
    metrics: accept => core.metrics.exposition(accept),
    countWebhook: (connection, outcome) =>
      core.metrics.record([{ metric: 'gatehouse_webhooks', labels: { connection, outcome }, value: 1 }]),
    contact: () => {
      const state = contact.state();
      if (state.kind !== 'connected' || shown.view() !== undefined) return state;
      return { kind: 'never', reason: 'reading the store' };
    },
    components,
    askComponent: (id, wanted) => askComponent(store, paths, id, wanted),
  };
}
