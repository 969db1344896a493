import { expect, test } from 'vitest';
import { tenantEventCodec } from '../../../src/model/codec/records.ts';
import type { TenantEvent } from '../../../src/model/event.ts';
import { projectKey } from '../../../src/model/project.ts';
import { processTenantEvents, type TenantEventsDeps } from '../../../src/scheduler/tenant-events.ts';
import { EventQueue } from '../../../src/store/event-queue.ts';
import { acquireFence } from '../../../src/store/fence.ts';
import { eventually, openStand } from './stand.ts';

const AWAY = projectKey({ connection: 'away', name: 'org/far' });
const HERE = projectKey({ connection: 'here', name: 'org/near' });

class HostAway extends Error {
  readonly retryable = true;
}

test('events of a host that is away wait for it, however long; those of other hosts go on', async () => {
  await using stand = openStand();
  const { store, paths, clock, ids, log } = stand;
  const places = paths.tenant('acme');
  const queue = new EventQueue<TenantEvent>({
    store,
    path: places.triggerQueue,
    codec: tenantEventCodec,
    clock,
  });
  await queue.prepare();
  const looks: string[] = [];
  let isAway = true;
  // First looks need nothing of a scheduler but that it reads configuration.
  const deps = {
    tenant: 'acme',
    clock,
    ids,
    log,
    queue,
    pauses: [1],
    changes: { fresh: async () => {}, conflict: async () => false, remember: () => {} },
    async reconfigure({ project }: { readonly project: string }) {
      looks.push(project);
      if (project === AWAY && isAway) throw new HostAway('no route to host');
      return null;
    },
  } as unknown as TenantEventsDeps;
  const look = (project: typeof AWAY): TenantEvent => ({
    kind: 'first-look',
    uuid: ids.uuid(),
    tenant: 'acme',
    project,
    queuedAt: clock.now(),
  });
  await store.multi([...queue.put(look(AWAY)), ...queue.put(look(HERE)), ...queue.put(look(AWAY))]);

  const stop = new AbortController();
  const fence = await acquireFence(store, {
    lockPath: places.lock,
    epochPath: places.epoch,
    lastOperationPath: places.lastOperation,
    guid: ids.uuid(),
  });
  const running = processTenantEvents(deps, fence, stop.signal);
  await eventually(
    async () => (await queue.depth()) === 2 && looks.length > 20,
    'the event of the host that is here',
  );
  expect(looks.filter(project => project === HERE)).toHaveLength(1);
  isAway = false;
  await eventually(async () => (await queue.depth()) === 0, 'the others');
  expect(await queue.deadLetters()).toEqual([]);
  stop.abort();
  await running;
});
