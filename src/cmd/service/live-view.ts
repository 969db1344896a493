/** A web's view of the store, kept current by watches over all its sessions. */
import type { Uuid } from '../../lib/ids.ts';
import { connectionReportCodec, senderReportCodec } from '../../model/codec/records.ts';
import type { ConnectionReport } from '../../model/connection-health.ts';
import type { ConnectionName } from '../../model/project.ts';
import type { SenderReport } from '../../model/sender-report.ts';
import { type Components, openComponents } from '../../store/component-view.ts';
import { connected, isConnectionLoss } from '../../store/connection.ts';
import { installationId } from '../../store/installation.ts';
import { type LiveTenants, openLiveTenants } from '../../store/live-tenants.ts';
import type { Store } from '../../store/port.ts';
import type { Core } from './core.ts';
import { type OutboxView, openOutboxView } from './outbox-view.ts';
import { openRecordView, type RecordView } from './record-view.ts';
import { openWaitingEvents, type WaitingEvents } from './waiting-events.ts';
import { openWaitingRequests, type WaitingRequests } from './waiting-requests.ts';

/** Shows the last known state while the store is out of contact, and reads all of it again afterwards. */
export interface LiveView extends Disposable {
  /** Layouts, pipelines and items of all tenants. */
  readonly live: LiveTenants;
  readonly waiting: WaitingEvents;
  readonly requests: WaitingRequests;
  readonly components: Components;
  readonly spanOutbox: OutboxView;
  /** State of the span delivery, reported by the process that delivers. */
  readonly senderReport: RecordView<SenderReport>;
  /** State of a code host, reported by the scheduler that holds the connection; undefined: not reported. */
  readonly connectionReport: (connection: ConnectionName) => ConnectionReport | undefined;
  /** Calls `listener` after each change of one of them, until disposed. */
  readonly onConnectionReport: (listener: () => void) => Disposable;
  /** Id of the installation. */
  readonly installation: Uuid;
}

type LiveViewCore = Pick<Core, 'paths' | 'clock' | 'log' | 'ids'> & {
  readonly connections: ReadonlyMap<ConnectionName, unknown>;
};

/**
 * Waits for the first contact, and again if it is lost meanwhile.
 *
 * @throws StoreError `SessionExpired` when the store was closed.
 */
export async function openLiveView(store: Store, core: LiveViewCore): Promise<LiveView> {
  for (;;) {
    await connected(store);
    try {
      return await openAll(store, core);
    } catch (error) {
      if (!isConnectionLoss(error)) throw error;
    }
  }
}

async function openAll(
  store: Store,
  { paths, clock, log, ids, connections }: LiveViewCore,
): Promise<LiveView> {
  using opening = new DisposableStack();
  const logAs = (text: string) => (error: unknown) => {
    // Once contact is back, everything is read again.
    if (isConnectionLoss(error)) log.debug({ err: error }, text);
    else log.error({ err: error }, text);
  };
  const live = opening.use(await openLiveTenants(store, paths, logAs('cannot refresh the live view')));
  const waiting = opening.use(
    await openWaitingEvents({
      store,
      paths,
      connections: connections.keys(),
      tenants: live,
      onError: logAs('cannot refresh the number of waiting events'),
    }),
  );
  const requests = opening.use(
    await openWaitingRequests(store, paths, logAs('cannot refresh the number of waiting requests')),
  );
  const components = opening.use(
    await openComponents(store, paths, logAs('cannot refresh the list of components')),
  );
  const spanOutbox = opening.use(
    await openOutboxView(store, paths.spanOutbox, clock, logAs('cannot read the span outbox')),
  );
  const senderReport = opening.use(
    await openRecordView(
      store,
      paths.senderReport,
      senderReportCodec,
      logAs('cannot read the report of the span delivery'),
    ),
  );
  const reports = new Map<ConnectionName, RecordView<ConnectionReport>>();
  for (const name of connections.keys()) {
    const { report } = paths.connection(name);
    const onError = logAs(`cannot read the report of connection ${name}`);
    reports.set(name, opening.use(await openRecordView(store, report, connectionReportCodec, onError)));
  }
  const installation = await installationId(store, paths, ids);
  const all = opening.move();
  return {
    live,
    waiting,
    requests,
    components,
    spanOutbox,
    senderReport,
    connectionReport: name => reports.get(name)?.value(),
    onConnectionReport(listener) {
      const listening = new DisposableStack();
      for (const report of reports.values()) listening.use(report.onChange(listener));
      return listening;
    },
    installation,
    [Symbol.dispose]: () => all.dispose(),
  };
}
