/** What a pipeline requires of the age of a review, at its time and without an event; and of a status behind a hundred others. */
import { expect } from 'vitest';
import {
  addMilliseconds,
  type Clock,
  fromMilliseconds,
  systemClock,
  toMilliseconds,
} from '../../../src/lib/clock.ts';
import { githubLayout } from './github-layout.ts';
import { githubStory } from './github-world.ts';
import { decided } from './pull-outcomes.ts';

/** Statuses that GitHub gives on one page. */
const PAGE = 100;

const layout = githubLayout({
  require: ['    older-than: 10s', '    newer-than: 11s', 'status: ci-bot:build:success'],
})
  .replaceAll('    check: {jobs: [unit]}\n', '')
  // Or each of the statuses is an event of the gate.
  .replace('action: [labeled, status, ', 'action: [labeled, ');

/** Begins with a second, and nearly stands still until the story moves it on: timers run on all the same. */
function slowClock(): Clock & { ahead(ms: number): void } {
  const real = systemClock();
  const begun = real.monotonic();
  let begin = Math.ceil(Date.now() / 1000) * 1000;
  return {
    now: () => addMilliseconds(fromMilliseconds(begin), (real.monotonic() - begun) / 1000),
    monotonic: () => real.monotonic(),
    ahead(ms) {
      begin += ms;
    },
  };
}

const clock = slowClock();

githubStory(
  'an approval counts from one age to another, to the moment, and a status on the second page is found',
  { layout, clock, fake: { now: () => toMilliseconds(clock.now()) } },
  async world => {
    const { github, app, observer } = world;
    const pull = await world.open();
    const about = { sha: pull.now.head, state: 'pending', creator: 'ci-bot', at: pull.createdAt };
    for (let id = 0; id < PAGE; id++)
      app.statuses.push({ ...about, id, context: `other-${id}`, description: null, targetUrl: null });
    await github.status(app, pull.now.head, 'build', 'success');
    github.hooks.faults.push('held');
    await github.review(app, pull, 'bob', 'APPROVED');
    clock.ahead(9_500);
    github.hooks.release();
    await decided(world, pull, /is not older than 10 s; checked again at/);
    expect(world.item(pull)).toBeUndefined();
    const webhooks = github.deliveries.length;
    clock.ahead(1_000);
    await observer.until('the approval to be old enough', () => world.item(pull));
    await world.runs('unit: 1');
    clock.ahead(1_000);
    const left = await world.leaves(pull, 'FAILURE');
    expect(left.reason).toBe('requirement-lost');
    const senders = github.deliveries.slice(webhooks).map(({ payload }) => payload.sender);
    expect(senders.filter(sender => !JSON.stringify(sender).includes('gatehouse[bot]'))).toEqual([]);
  },
);
