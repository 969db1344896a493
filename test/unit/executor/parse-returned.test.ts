import { describe, expect, test } from 'vitest';
import { parseReturned } from '../../../src/executor/returned/parse-returned.ts';

const lines = (...all: readonly unknown[]) => all.map(each => JSON.stringify(each)).join('\n');

describe('what a build returns', () => {
  test('is merged line by line: mappings deeply, artifacts and warnings joined, of all else the last counts', () => {
    const text = lines(
      {
        data: {
          zuul: { artifacts: [{ name: 'a', url: 'a.tar' }], warnings: ['old'] },
          version: { major: 1 },
          tags: [1],
        },
      },
      {
        data: {
          zuul: {
            log_url: 'https://logs.example.org/1',
            artifacts: [{ name: 'b', url: 'http://x/b', metadata: { k: 1 } }],
          },
          version: { minor: 2 },
          tags: [2],
        },
      },
      { secret_data: { password: 'hunter2', zuul: { log_url: 'x' } } },
    );
    expect(parseReturned(text)).toEqual({
      returned: {
        logUrl: 'https://logs.example.org/1',
        artifacts: [
          { name: 'a', url: 'https://logs.example.org/1/a.tar' },
          { name: 'b', url: 'http://x/b', metadata: { k: 1 } },
        ],
        data: { version: { major: 1, minor: 2 }, tags: [2] },
        warnings: ['old'],
      },
      secret: { password: 'hunter2' },
      orders: { pause: false, mapLines: true, retry: true },
    });
  });

  test('is nothing where nothing is written', () => {
    expect(parseReturned('')).toEqual({
      returned: {},
      secret: {},
      orders: { pause: false, mapLines: true, retry: true },
    });
  });

  test('keeps of child_jobs those that depend on the job, and counts the others in a warning', () => {
    const text = (names: unknown) => lines({ data: { zuul: { child_jobs: names } } });
    expect(parseReturned(text(['b', 'b', 'hunter2']), ['a', 'b']).returned).toEqual({
      childJobs: ['b'],
      warnings: ['zuul.child_jobs has a name of no job that depends directly on this one; ignored'],
    });
    expect(parseReturned(text([]), ['a']).returned).toEqual({ childJobs: [] });
    expect(parseReturned(text(['a']), undefined).returned).toEqual({ childJobs: ['a'] });
  });

  test('says that a pre-run which failed is not tried again', () => {
    expect(parseReturned(lines({ data: { zuul: { retry: false } } }))).toMatchObject({
      returned: {},
      orders: { retry: false },
    });
  });

  test.each([
    ['not json hunter2', 'line 1 of what was returned is not JSON; it is ignored'],
    ['["hunter2"]', 'line 1 of what was returned is not a JSON object; it is ignored'],
    [
      '{"secret_data": "hunter2"}',
      'line 1 of what was returned has data that is not a JSON object; it is ignored',
    ],
    [
      `{"data": {"a": ${'['.repeat(60)}"hunter2"${']'.repeat(60)}}}`,
      'line 1 of what was returned is nested deeper than 50 levels; it is ignored',
    ],
    [
      '{"data": {"zuul": {"artifacts": [{"name": "hunter2"}]}}}',
      'zuul.artifacts is not a list of objects with name, url and perhaps metadata; it is ignored',
    ],
    [
      '{"data": {"zuul": {"log_url": "javascript:hunter2"}}}',
      'zuul.log_url is not an address of http or https; it is ignored',
    ],
    [
      '{"data": {"ansible_connection": "hunter2"}}',
      '1 returned variables have names that variables cannot have; they are ignored',
    ],
    [
      '{"data": {"zuul": {"child_jobs": "hunter2"}}}',
      'zuul.child_jobs is not a list of names; it is ignored',
    ],
    ['{"data": {"zuul": {"retry": "hunter2"}}}', 'zuul.retry is neither true nor false; it is ignored'],
    ['{"data": {"zuul": {"pause": "hunter2"}}}', 'zuul.pause is neither true nor false; it is ignored'],
  ])('and unusable (%s) gives a warning that does not quote it', (text, warning) => {
    const { returned } = parseReturned(text);
    expect(returned).toEqual({ warnings: [warning] });
    expect(JSON.stringify(returned)).not.toContain('hunter2');
  });

  test('is not kept beyond its bound, with a warning of its size', () => {
    const { returned, secret } = parseReturned(
      lines({ data: { a: 'x'.repeat(70_000) } }, { secret_data: { b: 'y'.repeat(20_000) } }),
    );
    expect(returned.data).toBeUndefined();
    expect(returned.warnings).toEqual([
      expect.stringMatching(/^the returned data and artifacts have 70\d+ characters, more than 65536/),
      expect.stringMatching(/^the returned secret data have 20\d+ characters, more than 16384/),
    ]);
    expect(secret).toEqual({});
  });

  test('counts its depth outside of texts only', () => {
    const { returned } = parseReturned(lines({ data: { a: '['.repeat(100), b: '\\"['.repeat(40) } }));
    expect(returned.warnings).toBeUndefined();
    expect(returned.data).toEqual({ a: '['.repeat(100), b: '\\"['.repeat(40) });
  });
});
