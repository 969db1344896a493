import { expect, test } from 'vitest';
import { openWaitingEvents } from '../../../src/cmd/service/waiting-events.ts';
import { snapshotOf } from '../../../src/cmd/service/web-view.ts';
import type { Connection } from '../../../src/driver/connection.ts';
import { systemClock } from '../../../src/lib/clock.ts';
import { layoutSummaryCodec } from '../../../src/model/codec/records.ts';
import { openEmbeddedStore } from '../../../src/store/embedded/server.ts';
import { ensureNode } from '../../../src/store/ensure-node.ts';
import { openLiveTenants } from '../../../src/store/live-tenants.ts';
import { storePaths } from '../../../src/store/paths.ts';
import { create, type Store, set } from '../../../src/store/port.ts';
import { eventually } from '../../conformance/store/eventually.ts';
import { emptyLayout } from '../../fake/records.ts';

const paths = storePaths('/gatehouse');
const fail = (error: unknown): never => {
  throw error;
};

async function addTenant(writer: Store, tenant: string) {
  await ensureNode(writer, paths.tenant(tenant).layout);
  await ensureNode(writer, paths.tenant(tenant).triggerQueue);
  await writer.multi([set(paths.tenant(tenant).layout, layoutSummaryCodec.encode(emptyLayout({ tenant })))]);
}

test('events that wait in a connection or a tenant reach the snapshot and the listeners', async () => {
  await using server = openEmbeddedStore({ file: ':memory:' });
  const [store, writer] = [server.connect(), server.connect()];
  for (const tenant of ['acme', 'zoo']) {
    await addTenant(writer, tenant);
  }
  await ensureNode(writer, paths.connection('local').queue);
  using live = await openLiveTenants(store, paths, fail);
  using waiting = await openWaitingEvents({
    store,
    paths,
    connections: ['local'],
    tenants: live,
    onError: fail,
  });
  const changed: string[] = [];
  waiting.onChange(tenant => changed.push(tenant));
  const connections = new Map([['local', {} as Connection]]);
  const connectionReport = () => undefined;
  const view = { live, waiting, clock: systemClock(), connections, connectionReport, spans: undefined };
  expect(snapshotOf('acme', view)).toMatchObject({ triggerEvents: 0, connectionEvents: { local: 0 } });

  await writer.multi([create(`${paths.connection('local').queue}/1`)]);
  await eventually(() => changed.length === 2);
  expect(changed.splice(0).sort()).toEqual(['acme', 'zoo']);
  await writer.multi([create(`${paths.tenant('acme').triggerQueue}/1`)]);
  await eventually(() => changed.length === 1);
  expect(changed).toEqual(['acme']);
  expect(snapshotOf('acme', view)).toMatchObject({ triggerEvents: 1, connectionEvents: { local: 1 } });
  expect(snapshotOf('zoo', view)).toMatchObject({ triggerEvents: 0, connectionEvents: { local: 1 } });

  // One that is configured later.
  await ensureNode(writer, paths.tenant('later').triggerQueue);
  await writer.multi([create(`${paths.tenant('later').triggerQueue}/1`)]);
  await addTenant(writer, 'later');
  await eventually(() => snapshotOf('later', view)?.triggerEvents === 1);
});
