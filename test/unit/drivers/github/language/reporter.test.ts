import { describe, expect, test } from 'vitest';
import {
  githubLandingMode,
  parseGithubReporter,
} from '../../../../../drivers/github/language/reporter-config.ts';
import type { Json } from '../../../../../src/model/job.ts';

function mistakes(value: Json): readonly string[] {
  const result = parseGithubReporter(value);
  return result.kind === 'ok' ? [] : result.problems.map(({ path, code }) => `${path.join('.')} ${code}`);
}

const everything = {
  status: 'success',
  'status-url': 'https://ci.example.org/',
  check: 'success',
  comment: false,
  review: 'request-changes',
  'review-body': 'See above.',
  label: ['tested'],
  unlabel: ['gate'],
  merge: true,
};

test('all words of Zuul are taken, and parse to themselves', () => {
  expect(parseGithubReporter(everything)).toEqual({ kind: 'ok', value: everything });
  expect(parseGithubReporter({ label: 'tested' })).toEqual({ kind: 'ok', value: { label: ['tested'] } });
  expect(parseGithubReporter(null)).toEqual({ kind: 'ok', value: {} });
});

test('only a reporter that merges lands', () => {
  expect(githubLandingMode(everything)).toBe('push');
  expect(githubLandingMode({ check: 'success', merge: false })).toBeNull();
});

describe('what GitHub would refuse is a mistake', () => {
  test.each<[Json, readonly string[]]>([
    [{ check: 'passed' }, ['check unknown-value']],
    [{ status: 'neutral' }, ['status unknown-value']],
    [{ check: ['success', 'failure'] }, ['check wrong-type']],
    [{ review: 'comment' }, ['review missing-key']],
    [{ 'review-body': 'text' }, ['review-body missing-key']],
    [{ label: 'a', unlabel: ['b', 'a'] }, ['unlabel contradiction']],
    [{ merge: 'squash' }, ['merge wrong-type']],
    [{ checks: 'success' }, ['checks unknown-key']],
  ])('%j', (reporter, expected) => {
    expect(mistakes(reporter)).toEqual(expected);
  });
});
