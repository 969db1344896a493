import { describe, expect, test } from 'vitest';
import { type Why, whyLines } from '../../../src/cmd/commands/why-text.ts';
import type { Uuid } from '../../../src/lib/ids.ts';
import { decision, failed, item, NOW, running } from './fixture.ts';

const look = { width: 100, colour: false, now: NOW, timeZone: 'UTC' };
const proposed = { event: 'e1'.repeat(16) as Uuid };
const approved = { event: 'e2'.repeat(16) as Uuid };
const inGate = { item: '1'.repeat(32) as Uuid };

const decisions: Why['decisions'] = [
  decision(90, 'trigger-matched', 'check', 'proposed: event proposed', proposed),
  decision(
    90,
    'no-trigger-matched',
    'gate',
    'proposed: not for pipeline gate, event proposed is not approved',
    proposed,
  ),
  decision(
    90,
    'requirement-not-met',
    'check',
    'acme/app master/login,11111111 does not meet a requirement: it has no approval',
    proposed,
  ),
  decision(
    75,
    'no-trigger-matched',
    'check',
    'approved: not for pipeline check, event approved is not proposed',
    approved,
  ),
  decision(75, 'trigger-matched', 'gate', 'approved: event approved', approved),
  decision(
    75,
    'enqueued',
    'gate',
    'acme/app master/login,11111111 entered queue integrated: event approved',
    { ...approved, ...inGate },
  ),
  decision(
    62.5,
    'reset',
    'gate',
    'acme/app master/login,11111111 is tested again: an item ahead failed: unit of acme/api master/basket ended with FAILURE',
    inGate,
  ),
];

function lines(why: Partial<Why>, options: Partial<Parameters<typeof whyLines>[1]> = {}): readonly string[] {
  return whyLines(
    { project: 'acme/app', change: 'master/login', decisions, item: undefined, ...why },
    { ...look, ...options },
  );
}

describe('why', () => {
  test('shows the verdict of every pipeline on each event, newest first', () => {
    expect(
      lines({ item: item('1', 'acme/app master/login', { jobs: [running('unit', 12_000, 30_000)] }) }),
    ).toEqual([
      'acme/app master/login,11111111  Subject of master/login',
      '',
      '● in gate for 1m 15s: running for 1m 00s                                    gatehouse trace 11111111',
      '    ● unit 12s of ~30s',
      '',
      '17:58:45  approved',
      '  + gate   entered queue integrated: event approved',
      '              +13s  is tested again: an item ahead failed: unit of acme/api master/basket ended with',
      '                    FAILURE',
      '  - check  event approved is not proposed',
      '',
      '17:58:30  proposed',
      '  - check  does not meet a requirement: it has no approval',
      '  - gate   event proposed is not approved',
    ]);
  });

  test('shows why each listed job runs, or does not', () => {
    const jobDecisions = [
      { job: 'unit', runs: true, because: 'no matcher limits it' },
      { job: 'docs', runs: false, because: 'no changed file matches files "^docs/"' },
    ];
    expect(lines({ item: item('1', 'acme/app master/login', { jobDecisions }) }).slice(3, 5)).toEqual([
      '      + unit  runs: no matcher limits it',
      '      - docs  does not run: no changed file matches files "^docs/"',
    ]);
  });

  test('shows how the last item ended', () => {
    const left = {
      at: NOW - 10_000,
      result: 'FAILURE' as const,
      reason: 'reported' as const,
      text: 'reported',
    };
    const gone = item('1', 'acme/app master/login', {
      left,
      failing: ['at least one job failed'],
      jobs: [failed('unit', 4000)],
    });
    expect(lines({ item: gone }).slice(2, 5)).toEqual([
      '✗ left gate 10s ago after 1m 05s: FAILURE                                 gatehouse explain 11111111',
      '    ✗ unit FAILURE 4.0s',
      '    ✗ failed: at least one job failed',
    ]);
  });

  test('says that it never was anywhere', () => {
    expect(lines({ decisions: decisions.slice(0, 3) })).toContain('It has never been in a pipeline.');
  });

  test('names the revision where there were several, and the day when it was another', () => {
    const older = decision(
      200_000,
      'no-trigger-matched',
      'gate',
      'proposed: not for pipeline gate, event proposed is not approved',
      {
        event: 'e0'.repeat(16) as Uuid,
        changeText: 'acme/app master/login,00000000',
      },
    );
    expect(lines({ decisions: [older, ...decisions] })).toContain(
      '2026-11-18 10:26:40  proposed  acme/app master/login,00000000',
    );
  });

  test('keeps refusals that belong to no pipeline', () => {
    const refused = decision(
      5,
      'event-refused',
      'gate',
      'the approval is of 00000000, which 11111111 has replaced',
      { pipeline: null, event: 'e3'.repeat(16) as Uuid },
    );
    expect(lines({ decisions: [refused] }).slice(-2)).toEqual([
      '17:59:55  refused',
      '  - tenant  the approval is of 00000000, which 11111111 has replaced',
    ]);
  });
});
