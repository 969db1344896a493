import { describe, expect, test } from 'vitest';
import { type StatusOptions, statusLines } from '../../../src/cmd/commands/status-text.ts';
import { widthOf } from '../../../src/lib/text-width.ts';
import { failed, gateView, item, job, NOW, passed, running } from './fixture.ts';

const look: StatusOptions = {
  width: 80,
  colour: false,
  tenant: 'acme',
  root: 'http://127.0.0.1:9000',
  now: NOW,
};

const first = item('1', 'acme/app master/login', {
  jobs: [
    passed('unit', 3100),
    running('integration', 39_000, 60_000),
    job('deploy', { waitingFor: 'dependencies: unit, integration' }),
  ],
});
const second = item('2', 'acme/api master/basket', {
  behind: first.uuid,
  state: { name: 'change-ahead', since: NOW - 2000, subject: 'acme/app master/login,11111111' },
  failing: ['at least one job failed'],
  jobs: [failed('unit', 4000, 'run playbook tests/unit.sh ended with status 1')],
});
const third = item('3', 'acme/app master/shop', {
  behind: first.uuid,
  state: { name: 'executor', since: NOW - 500, subject: null },
  jobs: [job('unit', { state: 'requested', waitingFor: 'executor' })],
  resets: [
    {
      at: NOW - 1500,
      code: 'item-ahead-failed',
      number: 1,
      text: 'an item ahead failed: unit of acme/api master/basket,22222222 ended with FAILURE',
      brief: 'unit of acme/api master/basket,22222222 ended with FAILURE',
      lostMs: 7300,
    },
  ],
});

describe('the status', () => {
  test('shows when items will probably land, or why there is no forecast', () => {
    const times = { early: NOW + 100_000, likely: NOW + 250_000, late: NOW + 540_000 };
    const expected = { what: 'lands', ...times, lands: 0.9, undisturbed: 0.81 } as const;
    const forecasts = new Map([
      [first.uuid, { place: 1, expected, unknown: null }],
      [second.uuid, { place: 2, expected: null, unknown: 'its code host is failing' }],
      [third.uuid, { place: 3, expected: { ...expected, late: NOW - 2000 }, unknown: null }],
    ]);
    const lines = statusLines(gateView([first, second, third], { forecasts }), look);
    expect(lines.filter(line => line.includes('◷'))).toEqual([
      '      ◷ lands in about 4m 10s (1m 40s to 9m 00s); 19 % risk of a reset',
      '      ◷ no forecast: its code host is failing',
      '      ◷ lands later than forecast, by 2.0s so far',
    ]);
  });

  test('shows a gate on 80 columns', () => {
    expect(statusLines(gateView([first, second, third]), look)).toEqual([
      'acme  3 items in gate                                     http://127.0.0.1:9000/',
      '',
      'gate  dependent · queue integrated · window 20',
      '  1 ● acme/app master/login,11111111          running           1m 00s  11111111',
      '      ✓ unit 3.1s   ● integration 39s of ~1m 00s',
      '      ○ deploy after unit, integration',
      '  2 ✗ acme/api master/basket,22222222         awaits its turn     2.0s  22222222',
      '      ✗ unit FAILURE 4.0s: run playbook tests/unit.sh ended with status 1',
      '      ✗ will not merge: at least one job failed',
      '      … waits for acme/app master/login,11111111 ahead to leave',
      '  3 ○ acme/app master/shop,33333333           awaits executor    500ms  33333333',
      '      tested without item 2',
      '      ○ unit waits for an executor',
      '      ↺ tested again 1.5s ago: an item ahead failed: unit of acme/api',
      '        master/basket,22222222 ended with FAILURE; 7.3s of build time lost',
      '',
      'empty: check',
    ]);
  });

  test('uses the room of a wide terminal for the subject and the time in all', () => {
    const [, , , line] = statusLines(gateView([first]), { ...look, width: 140 });
    expect(line).toBe(
      '  1 ● acme/app master/login,11111111  Subject of master/login                                  running           1m 00s of  1m 15s  11111111',
    );
  });

  test.each([60, 80, 110])('keeps to %i columns however long names and reasons are', width => {
    const name =
      'a-job-with-a-name-that-is-longer-than-a-line-of-a-narrow-terminal-may-be-and-then-some-more';
    const long = item('4', `acme/${name} master/${name}`, {
      failing: [`at least one job failed, namely ${name}`],
      jobs: [failed(name, 4000, `run playbook tests/${name}.sh ended with status 1`), running(name, 1000)],
      changes: [...first.changes, ...second.changes],
    });
    for (const colour of [false, true])
      for (const line of statusLines(gateView([first, long, third]), { ...look, width, colour }))
        expect(widthOf(line), line).toBeLessThanOrEqual(width);
    const text = statusLines(gateView([long]), { ...look, width })
      .join('')
      .replaceAll(/\s/g, '');
    expect(text).toContain(`${name}FAILURE4.0s:runplaybooktests/${name}.shendedwithstatus1`);
  });

  test.each([80, 100, 140, 220])('keeps to %i columns, with colours as without', width => {
    const coloured = statusLines(gateView([first, second, third]), { ...look, width, colour: true });
    expect(Math.max(...coloured.map(widthOf))).toBeLessThanOrEqual(width);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences are what is taken away
    const bare = coloured.map(line => line.replaceAll(/\u001b\[[0-9;]*m/g, ''));
    expect(bare).toEqual(statusLines(gateView([first, second, third]), { ...look, width }));
  });

  test('says that nothing is queued', () => {
    expect(statusLines(gateView([]), look)).toEqual([
      'acme  nothing is queued                                   http://127.0.0.1:9000/',
      '',
      'empty: check, gate',
    ]);
  });

  test('warns of lost contact, of configuration errors and of spans that are not delivered', () => {
    const tracing = {
      waiting: 12,
      oldestWaiting: null,
      lost: {},
      delivered: 3,
      problem: 'connection refused',
    };
    const tenant = {
      name: 'acme',
      projects: 1,
      configErrors: 2,
      semaphoreWaits: 0,
      reconfiguredAt: NOW,
      triggerEvents: 0,
      managementEvents: 0,
      connectionEvents: {},
      missing: ['executor'],
      awaySince: NOW - 61_000,
      tracing,
    };
    expect(statusLines(gateView([], { tenant, tracing }), look).slice(1, 5)).toEqual([
      '! no contact with the store for 1m 01s; showing the last known state',
      '! no executor is registered: see "gatehouse components"',
      '! 2 configuration errors: http://127.0.0.1:9000/api/tenant/acme/config-errors',
      '! spans are not delivered (12 waiting): connection refused',
    ]);
  });

  test('shows one pipeline when asked for one', () => {
    expect(statusLines(gateView([first]), { ...look, pipeline: 'check' }).at(-1)).toBe('empty: check');
  });

  test('counts resets beyond the newest three', () => {
    const [reset] = third.resets;
    const often = {
      ...third,
      resets: [1, 2, 3, 4, 5].flatMap(number => (reset === undefined ? [] : [{ ...reset, number }])),
    };
    expect(statusLines(gateView([often]), { ...look, width: 200 })).toContain(
      '      ↺ tested again 2 more times earlier',
    );
  });

  test('lets no control character of a subject or a job reach the terminal', () => {
    const hostile = item('4', 'acme/app master/x', { jobs: [job('a\u001b[2Jb')] });
    expect(statusLines(gateView([hostile]), look).join('\n')).not.toContain('\u001b');
  });
});
