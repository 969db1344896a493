/**
 * A code host that takes its time: events of many repositories of one connection, each 300 ms at the host, until they are with their
 * tenant. The real stage 2 over an embedded store in memory, with a made-up host. Then the same while one repository is limited,
 * and while four hang.
 *
 * Oracle: every event is handed on once, in order within its repository; those of a repository in trouble stay in the queue; and 100
 * events take at most 4 s, in trouble or not.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { ConnectionEvent } from '../../src/model/event.ts';
import {
  type FakeSource,
  NOTHING,
  openConnection,
  trigger,
} from '../unit/scheduler/events/connection-stand.ts';
import { openStand } from '../unit/scheduler/stand.ts';
import type { Row } from './main.ts';

const HOST_MS = 300;
const REPOSITORIES = 20;
const EVENTS = 100;
const MOST_SECONDS = 4;

type Trouble = 'limited' | 'hangs';

export async function benchHosts(): Promise<readonly Row[]> {
  const inLine = (EVENTS * HOST_MS) / 1000;
  const well = await measure(new Map());
  const limited = await measure(new Map([['limited', 'limited']]));
  const hanging = await measure(new Map(Array.from({ length: 4 }, (_, index) => [`hangs${index}`, 'hangs'])));
  return [
    { name: `${EVENTS} events of ${HOST_MS} ms, one after the other`, value: inLine, unit: 's' },
    { name: `of ${REPOSITORIES} repositories, handed on after`, value: well, unit: 's' },
    { name: 'while another repository is limited', value: limited, unit: 's' },
    { name: 'while 4 other repositories hang', value: hanging, unit: 's' },
  ];
}

/** @returns seconds until the events of the repositories that are well are handed on. */
async function measure(ill: ReadonlyMap<string, Trouble>): Promise<number> {
  await using fake = openStand();
  const connection = await openConnection(fake);
  const stop = new AbortController();
  const holder = await connection.hold(slowSource(ill, stop.signal));
  const names = [...ill.keys(), ...Array.from({ length: EVENTS }, (_, index) => `r${index % REPOSITORIES}`)];
  const offered = names.map((name, index) => `${name}-${String(index).padStart(3, '0')}`);
  for (const id of offered) await connection.offer(id);
  const begun = performance.now();
  while ((await connection.queue.depth()) > ill.size) await delay(5);
  const seconds = (performance.now() - begun) / 1000;
  const handedOn = (await connection.tenantQueue.list()).flatMap(({ value }) =>
    value.kind === 'trigger' ? [value.trigger.type] : [],
  );
  stop.abort();
  await holder.end();
  check(offered, handedOn, ill);
  if (seconds > MOST_SECONDS) throw new Error(`${seconds.toFixed(1)} s are more than ${MOST_SECONDS} s`);
  return seconds;
}

function slowSource(ill: ReadonlyMap<string, Trouble>, stop: AbortSignal): FakeSource {
  const laneOf = (event: ConnectionEvent) => event.deliveryId.split('-')[0] ?? '';
  return {
    lane: laneOf,
    async process(event) {
      const trouble = ill.get(laneOf(event));
      if (trouble === 'hangs') await delay(600_000, undefined, { signal: stop });
      await delay(HOST_MS);
      return trouble === 'limited'
        ? { later: { reason: 'limited', text: 'too many requests' } }
        : { ...NOTHING, events: [trigger(event, event.deliveryId)] };
    },
  };
}

function check(
  offered: readonly string[],
  handedOn: readonly string[],
  ill: ReadonlyMap<string, Trouble>,
): void {
  for (const repository of new Set(offered.map(id => id.split('-')[0] ?? ''))) {
    const of = (ids: readonly string[]) => ids.filter(id => id.startsWith(`${repository}-`)).join(' ');
    const wanted = ill.has(repository) ? '' : of(offered);
    if (of(handedOn) !== wanted)
      throw new Error(`of ${repository} there came ${of(handedOn)}, not ${wanted}`);
  }
}
