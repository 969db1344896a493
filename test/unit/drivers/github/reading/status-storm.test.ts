/** Case 10: hundreds of statuses in a second, through the queue of the connection, with virtual time. */
import { afterEach, expect, test, vi } from 'vitest';
import type { Notification } from '../../../../../drivers/github/intake/notification.ts';
import { createOfferGroup } from '../../../../../src/store/offer-group.ts';
import { openConnection } from '../../../scheduler/events/connection-stand.ts';
import { eventually, openStand } from '../../../scheduler/stand.ts';
import {
  APP,
  aboutPull,
  contexts,
  pull,
  run,
  scriptedGithub,
  sha,
  status,
  webhook,
} from './scripted-github.ts';

afterEach(() => void vi.useRealTimers());

const HEADS = 40;
const STATUSES = 2_000;
/** Of half a second each, with one new pull request. */
const ROUNDS = 20;

/** Milliseconds of real time on a busy machine. */
const LONG = 60_000;

test('2 000 statuses and check runs of 40 heads in 10 s cost two readings a head, and no pull request waits for them (10)', async () => {
  await using stand = openStand();
  const { world, source, eventOf } = scriptedGithub();
  const connection = await openConnection(stand, 'github');
  const group = createOfferGroup(stand.store, connection.queue);
  const processed = new Set<string>();
  const offer = async (notification: Notification) => {
    const event = eventOf(notification);
    expect(await group.offer(event, event.deliveryId)).toBe('stored');
    return event.deliveryId;
  };
  const open = (number: number) => {
    const head = `head-${number}`;
    world.pulls.set(
      number,
      pull(number, head, contexts(head, status('ci', 'pending'), run('lint', null, 8))),
    );
    return offer(webhook('pull_request', 'opened', aboutPull(number)));
  };
  const changed = (number: number) => {
    const commit = sha(`head-${1 + (number % HEADS)}`);
    return number % 2 === 0
      ? offer(webhook('status', '', { kind: 'commit', commit, context: 'ci' }, 'ci-bot'))
      : offer(webhook('check_run', 'created', { kind: 'commit', commit, context: 'lint' }, 'ci-bot'));
  };
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const holder = await connection.hold(
    {
      ...source,
      async process(event, context) {
        const outcome = await source.process(event, context);
        processed.add(event.deliveryId);
        return outcome;
      },
    },
    { projects: new Set([APP]) },
  );
  const isDrained = async () => (await connection.queue.depth()) === 0;
  // One by one: the index of heads has one entry for many of them, and what meets in it is tried again after a pause.
  for (const number of numbersFrom(1, HEADS)) {
    await open(number);
    await eventually(isDrained, `pull request ${number} is known`, LONG);
  }
  world.requests.length = 0;

  const each = STATUSES / ROUNDS;
  for (let round = 0; round < ROUNDS; round++) {
    await Promise.all(numbersFrom(round * each, each).map(changed));
    const delivery = await open(1_000 + round);
    await eventually(() => processed.has(delivery), `the pull request of round ${round} is read`, LONG);
    await vi.advanceTimersByTimeAsync(500);
  }
  await vi.advanceTimersByTimeAsync(30_000);
  await eventually(isDrained, 'the storm is answered', LONG);
  const ofHeads = world.requests.length - ROUNDS;
  expect(ofHeads).toBeGreaterThanOrEqual(HEADS);
  expect(ofHeads).toBeLessThanOrEqual(2 * HEADS);
  await holder.end();
});

function numbersFrom(first: number, count: number): readonly number[] {
  return Array.from({ length: count }, (_, index) => first + index);
}
