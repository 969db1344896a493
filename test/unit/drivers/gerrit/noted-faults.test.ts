import { expect, test } from 'vitest';
import { noteStream, noteTopics, noteVotes } from '../../../../drivers/gerrit/noted-faults.ts';
import { createGerritUsage } from '../../../../drivers/gerrit/usage.ts';
import { createHostHealth } from '../../../../src/driver/host-health.ts';
import { fromMilliseconds } from '../../../../src/lib/clock.ts';

test('a vote that Gerrit does not take shows in the health of the connection until it takes one', () => {
  const health = createHostHealth(() => null);
  health.noted('acme/app', undefined);
  const answered = noteVotes(health);
  const vote = { label: 'Nope', value: 1 };
  answered(
    'acme/app',
    [vote, { label: 'Verified', value: 1 }],
    [{ ...vote, why: 'the change has no label Nope' }],
  );
  expect(health.now()).toMatchObject({
    state: 'failing',
    text: 'acme/app: Gerrit did not take our vote Nope +1 (the change has no label Nope).',
    faults: [{ severity: 'error', project: 'acme/app' }],
  });
  answered('acme/lib', [vote], []);
  expect(health.now().state).toBe('failing');
  answered('acme/app', [vote], []);
  expect(health.now().state).toBe('serving');
});

test('a stream that Gerrit refuses shows there, one that is away does not', () => {
  const health = createHostHealth(() => null);
  health.noted('acme/app', undefined);
  const usage = createGerritUsage();
  const noted = noteStream(usage, health);
  const state = {
    ...{ connected: false, since: fromMilliseconds(1), lastLineAt: null, gaps: 1, missed: 0 },
    ...{ text: 'stream events not permitted', isRefused: true },
  };
  noted(state);
  expect(health.now()).toMatchObject({
    state: 'failing',
    text: 'no event stream: stream events not permitted',
  });
  expect(usage.now().stream).toMatchObject({ connected: false, gaps: 1 });
  noted({ ...state, isRefused: false, text: 'ECONNREFUSED' });
  expect(health.now().state).toBe('serving');
  noted({ ...state, isRefused: true });
  noted(undefined);
  expect(health.now().state).toBe('serving');
  expect(usage.now().stream).toBeUndefined();
});

test('topics that are submitted one by one are a warning, not trouble', () => {
  const health = createHostHealth(() => null);
  health.noted('acme/app', undefined);
  const noted = noteTopics(health);
  noted(false);
  expect(health.now().state).toBe('serving');
  expect(health.now().faults).toMatchObject([
    { severity: 'warning', project: null, text: expect.stringContaining('change.submitWholeTopic is off') },
  ]);
  noted(true);
  expect(health.now().faults).toEqual([]);
});
