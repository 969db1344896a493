import { expect, test } from 'vitest';
import { takeSemaphores } from '../../../src/executor/playbook-semaphores.ts';
import { systemClock } from '../../../src/lib/clock.ts';
import type { BuildPlaybook } from '../../../src/model/build-request.ts';
import type { HeldSlots, SlotWait } from '../../../src/store/hold-slots.ts';
import { buildRequest } from './fixture.ts';

const request = buildRequest('a'.repeat(40), { run: ['migrate.sh'] });
const holds = [
  { name: 'rig', scope: 'tenant', max: 1 },
  { name: 'staging', scope: 'tenant', max: 1 },
] as const;

type Hold = (playbook: BuildPlaybook, wait: SlotWait) => Promise<HeldSlots | undefined>;

/** @param reason what halts the build. */
function asked(hold: Hold, timeoutMs: number, reason?: 'cancelled' | 'executor-stopped') {
  const lines: string[] = [];
  const halted = new AbortController();
  if (reason !== undefined) setTimeout(() => halted.abort(), 20);
  const halt = { signal: halted.signal, reason: () => (halted.signal.aborted ? reason : undefined) };
  const log = { line: async (text: string) => void lines.push(text) };
  const [playbook] = request.playbooks.run;
  if (playbook === undefined) throw new Error('there is no playbook');
  const context = { halt, log, hold, deps: { clock: systemClock() } } as unknown as Parameters<
    typeof takeSemaphores
  >[0];
  const taken = takeSemaphores(context, { playbook: { ...playbook, holds }, phase: 'run', timeoutMs });
  return { taken, lines };
}

/** Others hold it until the wait ends. */
const full: Hold = async (_, { signal, onFull }) => {
  onFull([
    {
      ...{ tenant: 'acme', pipeline: 'gate', item: request.item, buildset: request.buildset },
      ...{ build: request.uuid, job: 'deploy', change: 'app 7', since: systemClock().now() },
    },
  ]);
  if (!signal.aborted)
    await new Promise<void>(resolve => signal.addEventListener('abort', () => resolve(), { once: true }));
  return undefined;
};

test('a playbook that gets its semaphores at once has not waited', async () => {
  const slots = { release: async () => {} };
  const { taken, lines } = asked(async () => slots, 60_000);
  const outcome = await taken;
  expect(outcome).toMatchObject({ kind: 'held', slots });
  expect(outcome.wait).toBeUndefined();
  expect(lines).toEqual([]);
});

test('one that does not begin in its time is no verdict, and says who was in the way', async () => {
  const { taken, lines } = asked(full, 30);
  expect(await taken).toMatchObject({
    kind: 'ended',
    end: {
      kind: 'broken',
      detail:
        'run playbook migrate.sh waited 0 s for semaphores: rig, staging, which deploy of app 7 holds; it did not begin',
    },
    wait: { kind: 'SemaphoreWait', subject: 'rig, staging', result: 'TIMED_OUT' },
  });
  expect(lines).toEqual([
    'RUN WAITS for semaphores of migrate.sh: rig, staging, which deploy of app 7 holds',
  ]);
});

test.each([
  ['cancelled', 'cancelled'],
  ['executor-stopped', 'broken'],
] as const)('a wait that is %s ends the playbook as %s', async (reason, kind) => {
  const { taken } = asked(full, 60_000, reason);
  expect(await taken).toMatchObject({ kind: 'ended', end: { kind }, wait: { result: 'ABORTED' } });
});
