import { describe, expect, test } from 'vitest';
import {
  gerritLandingMode,
  gerritReporterDeeds,
  parseGerritReporter,
} from '../../../../../drivers/gerrit/language/reporter-config.ts';
import type { Json } from '../../../../../src/model/job.ts';

function mistakes(value: Json): readonly string[] {
  const result = parseGerritReporter(value);
  return result.kind === 'ok' ? [] : result.problems.map(({ path, text }) => `${path.join('.')}: ${text}`);
}

const everything = { Verified: 2, 'Code-Review': -1, submit: true, comment: false, notify: 'OWNER' };

test('all words of Zuul are taken, and parse to themselves', () => {
  expect(parseGerritReporter(everything)).toEqual({ kind: 'ok', value: everything });
  expect(parseGerritReporter(null)).toEqual({ kind: 'ok', value: {} });
  expect(parseGerritReporter({ Verified: '+1' })).toEqual({ kind: 'ok', value: { Verified: 1 } });
});

test('what the checks plug-in got is dropped, with a warning', () => {
  expect(
    parseGerritReporter({ 'checks-api': { uuid: 'zuul:check', state: 'RUNNING' }, Verified: 0 }),
  ).toEqual({
    kind: 'ok',
    value: { Verified: 0 },
    warnings: [{ path: ['checks-api'], code: 'no-effect', text: expect.stringMatching(/has no effect/) }],
  });
});

test('a report votes, comments and submits as it is written, and comments by default', () => {
  expect(gerritReporterDeeds(everything)).toEqual({
    votes: [
      { label: 'Verified', value: 2 },
      { label: 'Code-Review', value: -1 },
    ],
    submit: true,
    comment: false,
    notify: 'OWNER',
  });
  expect(gerritReporterDeeds({})).toEqual({ votes: [], submit: false, comment: true, notify: undefined });
});

test('only a reporter that submits lands, and Gerrit makes the commit', () => {
  expect(gerritLandingMode(everything)).toBe('api');
  expect(gerritLandingMode({ Verified: 1, submit: false })).toBeNull();
});

describe('what Gerrit would refuse is a mistake', () => {
  test.each<[Json, readonly string[]]>([
    [{ Verified: 'yes' }, ['Verified: the label Verified in a reporter needs a whole number']],
    [{ Verified: 1.5 }, ['Verified: the label Verified in a reporter needs a whole number']],
    [{ Verified: 40_000 }, ['Verified: the label Verified in a reporter needs a whole number']],
    [{ Verified: [1] }, ['Verified: the label Verified in a reporter needs a whole number']],
    [{ 'Code Review': 1 }, ['Code Review: "Code Review" is no name of a label']],
    [{ submit: 'yes' }, ['submit: "submit" in a reporter of a Gerrit connection must be true or false']],
    [
      { notify: ['NONE', 'ALL'] },
      ['notify: "notify" is one of NONE, OWNER, OWNER_REVIEWERS, ALL, not several'],
    ],
  ])('%j', (reporter, expected) => {
    expect(mistakes(reporter)).toEqual(expected);
  });

  test('with a hint to the word that was meant', () => {
    expect(mistakes({ sumbit: true })[0]).toContain('submit');
    expect(mistakes({ notify: 'none' })[0]).toContain('"none" is not one of');
  });
});
