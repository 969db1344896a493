/** The listener behind a real SSH connection: until an event is durable, and what events of foreign projects cost. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { systemClock } from '../../src/lib/clock.ts';
import { randomIds } from '../../src/lib/ids.ts';
import { connectionEventCodec } from '../../src/model/codec/records.ts';
import type { ConnectionEvent } from '../../src/model/event.ts';
import { openEmbeddedStore } from '../../src/store/embedded/server.ts';
import { EventQueue } from '../../src/store/event-queue.ts';
import { storePaths } from '../../src/store/paths.ts';
import { changeOf, type ListenerWorld, openListenerWorld } from '../gerrit/listener-world.ts';
import type { Row } from './main.ts';
import { percentile } from './webhook.ts';

const PUSHED = 40;
const WARM_UP = 5;
const FOREIGN = 10_000;
const MINUTE = 60_000;

async function listening(): Promise<ListenerWorld> {
  const world = await openListenerWorld();
  for (const name of ['acme/app', 'others/lib']) await world.gerrit.project(name);
  world.listen();
  await world.until(() => world.ssh.streams() === 1 && world.passes.length >= 2);
  await world.pass(10_000, () => world.passes.length >= 3 && world.clock.waits().some(ms => ms > 10_000));
  return world;
}

/** Oracle: every patch set is an event in the queue of a store on a disk. */
export async function benchGerritIntake(): Promise<readonly Row[]> {
  const directory = await mkdtemp(path.join(tmpdir(), 'gatehouse-gerrit-intake-'));
  try {
    await using world = await listening();
    await using server = openEmbeddedStore({ file: path.join(directory, 'store.sqlite') });
    const { queue: place, seen } = storePaths('/gatehouse').connection('gerrit');
    const clock = systemClock();
    const ids = randomIds();
    const queue = new EventQueue<ConnectionEvent>({
      ...{ store: server.connect(), path: place, seenPath: seen, codec: connectionEventCodec, clock },
    });
    await queue.prepare();
    const emitted = new Map<number, number>();
    const latencies: number[] = [];
    world.gerrit.world.onEvent(({ json }) => {
      const { change } = json as { readonly change?: { readonly number: number } };
      if (json.type === 'patchset-created' && change !== undefined)
        emitted.set(change.number, performance.now());
    });
    world.emitting = async event => {
      const [receivedAt, uuid] = [clock.now(), ids.uuid()];
      await queue.offer(
        { ...event, uuid, connection: 'gerrit', receivedAt, storedAt: receivedAt, sampled: true },
        event.deliveryId,
      );
      const begun = emitted.get(changeOf(event) ?? 0);
      if (event.type === 'patchset-created' && begun !== undefined) latencies.push(performance.now() - begun);
    };
    for (let at = 0; at < PUSHED + WARM_UP; at++) {
      await world.gerrit.push({ project: 'acme/app', files: { [`f${at}`]: 'x\n' } });
      await world.until(() => latencies.length > at);
    }
    const depth = await queue.depth();
    if (depth < PUSHED + WARM_UP) throw new Error(`${PUSHED + WARM_UP} patch sets, ${depth} events`);
    const counted = latencies.slice(WARM_UP);
    return [
      { name: 'line of the stream → durable event, p50', value: percentile(counted, 50), unit: 'ms' },
      { name: 'line of the stream → durable event, p95', value: percentile(counted, 95), unit: 'ms' },
    ];
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

/** Oracle: nothing is stored or asked for. The time counts both ends of the SSH connection, and all threads. */
export async function benchForeignEvents(): Promise<readonly Row[]> {
  await using world = await listening();
  const { gerrit, ssh } = world;
  const from = gerrit.events.length;
  const change = await gerrit.push({ project: 'others/lib', files: { a: 'a\n' } });
  await gerrit.vote(change, 'bob', { 'Code-Review': 2, Workflow: 1 });
  const lines = gerrit.events.slice(from).map(({ json }) => json);
  const [asked, stored] = [gerrit.requests.length, world.stored.length];
  const begun = process.cpuUsage();
  for (let at = 0; at < FOREIGN; at++) {
    ssh.send(lines[at % lines.length] ?? {});
    if (at % 100 === 99) await new Promise(resolve => setImmediate(resolve));
  }
  // The stream keeps its order: what is seen after them was sent after them.
  const own = await gerrit.push({ project: 'acme/app', files: { a: 'a\n' } });
  await world.until(() => world.stored.some(event => changeOf(event) === own.number));
  const { user, system } = process.cpuUsage(begun);
  const milliseconds = (user + system) / 1000;
  if (gerrit.requests.length !== asked) throw new Error('a foreign event was looked up');
  if (world.stored.length !== stored + 1) throw new Error('a foreign event was stored');
  return [
    {
      name: `${FOREIGN} events of foreign projects, both ends of the stream`,
      value: milliseconds,
      unit: 'ms of a core',
    },
    { name: '  so many in a minute take', value: (100 * milliseconds) / MINUTE, unit: '% of a core' },
  ];
}
