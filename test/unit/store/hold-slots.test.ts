/** Slots of semaphores that processes hold: taken together or not at all, and gone with the session. */
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { parseNanoseconds } from '../../../src/lib/clock.ts';
import { parseUuid } from '../../../src/lib/ids.ts';
import type { SemaphoreHolder, WantedSemaphore } from '../../../src/model/semaphore.ts';
import { openEmbeddedStore } from '../../../src/store/embedded/server.ts';
import { type HeldSlots, holdSlots } from '../../../src/store/hold-slots.ts';
import { storePaths } from '../../../src/store/paths.ts';
import { remove, type Store } from '../../../src/store/port.ts';
import { slotsOfPlaybooks, takenSlots } from '../../../src/store/semaphore-slots.ts';

const paths = storePaths();
let server: ReturnType<typeof openEmbeddedStore>;
let store: Store;

beforeEach(() => {
  server = openEmbeddedStore({ file: ':memory:' });
  store = server.connect();
});
afterEach(() => server.close());

const holder = (digit: string, tenant = 'acme'): SemaphoreHolder => ({
  tenant,
  pipeline: 'gate',
  item: parseUuid('a'.repeat(32)),
  buildset: parseUuid('b'.repeat(32)),
  build: parseUuid(digit.repeat(32)),
  job: `job-${digit}`,
  change: 'app 1',
  since: parseNanoseconds('1'),
  playbook: 'run.sh',
});
const one = (name: string, max = 1): WantedSemaphore => ({ name, scope: 'tenant', max });
const taken = async (name: string) => [...(await takenSlots(store, paths.semaphore('acme', 'tenant', name)))];

interface Asked {
  readonly held: Promise<HeldSlots | undefined>;
  readonly full: (readonly SemaphoreHolder[])[];
  abort(): void;
}

function ask(session: Store, who: SemaphoreHolder, ...wanted: WantedSemaphore[]): Asked {
  const controller = new AbortController();
  const full: (readonly SemaphoreHolder[])[] = [];
  const wait = { signal: controller.signal, onFull: (by: readonly SemaphoreHolder[]) => void full.push(by) };
  const held = holdSlots({ store: session, paths }, wanted, who, wait);
  return { held, full, abort: () => controller.abort() };
}

async function isWaiting(asked: Asked): Promise<void> {
  await vi.waitUntil(() => asked.full.length > 0, { timeout: 10_000 });
}

describe('a process that asks for slots', () => {
  test('gets one of each at once, and gives them back', async () => {
    const held = await ask(store, holder('1'), one('db'), one('rig')).held;
    expect([await taken('db'), await taken('rig')]).toEqual([[0], [0]]);
    await held?.release();
    expect([await taken('db'), await taken('rig')]).toEqual([[], []]);
    await held?.release();
  });

  test('waits for the holders, which are reported once, and takes none meanwhile', async () => {
    const first = await ask(store, holder('1'), one('db', 2)).held;
    const second = await ask(store, holder('2'), one('db', 2)).held;
    const third = ask(store, holder('3'), one('db', 2), one('rig'));
    await isWaiting(third);
    expect(third.full).toMatchObject([[{ job: 'job-1' }, { job: 'job-2' }]]);
    expect(await taken('rig')).toEqual([]);
    await first?.release();
    await third.held;
    expect(third.full).toHaveLength(1);
    expect(await taken('db')).toEqual([0, 1]);
    await second?.release();
    expect(await taken('db')).toEqual([0]);
  });

  test('is freed of them by the end of its session, in the middle of anything', async () => {
    const dying = server.connect();
    await ask(dying, holder('1'), one('db')).held;
    const next = ask(store, holder('2'), one('db'));
    await isWaiting(next);
    await dying.close();
    await next.held;
    expect(await slotsOfPlaybooks(store, paths, 'acme')).toMatchObject([{ name: 'db', job: 'job-2' }]);
  });

  test('holds nothing after a wait that was ended', async () => {
    const first = await ask(store, holder('1'), one('db')).held;
    const second = ask(store, holder('2'), one('db'));
    await isWaiting(second);
    second.abort();
    expect(await second.held).toBeUndefined();
    await first?.release();
    expect(await taken('db')).toEqual([]);
  });

  test('releases the others when an operator has removed one', async () => {
    const held = await ask(store, holder('1'), one('db'), one('rig')).held;
    await store.multi([remove(`${paths.semaphore('acme', 'tenant', 'db')}/0`)]);
    await held?.release();
    expect(await taken('rig')).toEqual([]);
  });

  test('does not learn of holders of other tenants, and is counted with them', async () => {
    const shared: WantedSemaphore = { name: 'licence/1', scope: 'global', max: 1 };
    await ask(store, holder('1', 'other'), shared).held;
    const second = ask(store, holder('2'), shared);
    await isWaiting(second);
    expect(second.full).toEqual([[]]);
    expect(await slotsOfPlaybooks(store, paths, 'acme')).toMatchObject([
      { tenant: 'other', name: 'licence/1', scope: 'global' },
    ]);
    second.abort();
    await second.held;
  });

  test('among many has what `max` allows, never more', async () => {
    let most = 0;
    let now = 0;
    const sessions = [store, server.connect(), server.connect()];
    await Promise.all(
      Array.from({ length: 24 }, async (_, index) => {
        const session = sessions[index % 3] ?? store;
        const digit = (1 + (index % 15)).toString(16);
        const held = await ask(session, holder(digit), one('db', 3), one('rig', 4)).held;
        now += 1;
        most = Math.max(most, now);
        for (let look = 0; look < 10; look += 1) await taken('db');
        now -= 1;
        await held?.release();
      }),
    );
    expect(most).toBeGreaterThan(1);
    expect(most).toBeLessThanOrEqual(3);
    expect([await taken('db'), await taken('rig')]).toEqual([[], []]);
  });
});
