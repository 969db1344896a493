/** Results of tests in files that jobs leave: three formats, within bounds, from strangers. */
import { mkdir, mkdtemp, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { GO_TEST } from '../../../src/executor/test-reports/read-go-test.ts';
import { JUNIT } from '../../../src/executor/test-reports/read-junit.ts';
import { TAP } from '../../../src/executor/test-reports/read-tap.ts';
import type { ReportFormat } from '../../../src/executor/test-reports/report-reader.ts';
import { type CollectedTests, collectCases } from '../../../src/executor/test-reports/test-cases.ts';
import { createTestReader } from '../../../src/executor/test-reports/test-reader.ts';
import { withTestSteps } from '../../../src/executor/test-reports/test-steps.ts';
import { fromMilliseconds } from '../../../src/lib/clock.ts';
import { strangersLine } from '../../../src/lib/cut-text.ts';
import type { Step } from '../../../src/model/step.ts';
import { testResultsOf, testsText } from '../../../src/model/test-results.ts';

/** Fed in pieces of a few characters. */
function read(format: ReportFormat, text: string): CollectedTests {
  expect(format.isIn(text)).toBe(true);
  const cases = collectCases();
  cases.file(0);
  const reader = format.reader(cases, 'results');
  for (let at = 0; at < text.length; at += 7) reader.write(text.slice(at, at + 7));
  reader.end();
  return cases.end();
}

const JUNIT_TEXT = `<?xml version="1.0"?><testsuites><testsuite name="app">
<testcase classname="app.Login" name="refuses" time="1.5"><failure message="expected 401&#10;got 200">trace</failure></testcase>
<testcase classname="app.Login" name="accepts" time="0.5"/><testcase classname="app" name="waits"><skipped/></testcase>
<testcase name="explodes"><error><![CDATA[boom]]></error></testcase></testsuite></testsuites>`;
const TAP_TEXT = `TAP version 13
# Subtest: numbers
    ok 1 - adds
    not ok 2 - divides
      ---
      duration_ms: 12.5
      error: 'by zero'
      ...
    1..2
not ok 1 - numbers
ok 2 - later # SKIP no database
not ok 3 - someday # TODO
`;
const go = (...events: readonly object[]) => events.map(event => `${JSON.stringify(event)}\n`).join('');
const GO_TEXT = go(
  { Time: '2026-01-01T00:00:00Z', Action: 'start', Package: 'acme/app' },
  { Action: 'run', Package: 'acme/app', Test: 'TestLogin' },
  {
    Action: 'output',
    Package: 'acme/app',
    Test: 'TestLogin/bad',
    Output: '    login_test.go:9: expected 401\n',
  },
  { Action: 'fail', Package: 'acme/app', Test: 'TestLogin/bad', Elapsed: 0.02 },
  { Action: 'fail', Package: 'acme/app', Test: 'TestLogin', Elapsed: 0.03 },
  { Action: 'pass', Package: 'acme/app', Test: 'TestOther', Elapsed: 0 },
  { Action: 'fail', Package: 'acme/app', Elapsed: 0.1 },
  { Action: 'fail', Package: 'acme/broken', Elapsed: 0 },
);

test.each<[string, ReportFormat, string, object, readonly string[]]>([
  [
    'JUnit',
    JUNIT,
    JUNIT_TEXT,
    { suites: 1, cases: 4, failed: 2, skipped: 1 },
    ['app: app.Login.refuses (1500 ms) expected 401 got 200', 'app: explodes (0 ms) boom'],
  ],
  [
    'TAP',
    TAP,
    TAP_TEXT,
    { suites: 1, cases: 4, failed: 1, skipped: 2 },
    ["results: divides (13 ms) 'by zero'"],
  ],
  [
    'go test -json',
    GO_TEST,
    GO_TEXT,
    { suites: 2, cases: 3, failed: 2, skipped: 0 },
    ['acme/app: TestLogin/bad (20 ms) login_test.go:9: expected 401', 'acme/broken: the package (0 ms) '],
  ],
])('%s is added up, and failures have their reasons', (_name, format, text, totals, failures) => {
  const found = read(format, text);
  expect(found.totals).toMatchObject(totals);
  const lines = found.suites.flatMap(({ name, failures: failed }) =>
    failed.map(each => `${name}: ${each.name} (${each.ms} ms) ${each.message}`),
  );
  expect(lines).toEqual(failures);
});

test.each([
  [
    'entities that grow',
    `<!DOCTYPE t [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><testsuite><testcase name="&b;"/></testsuite>`,
  ],
  ['elements without end', `<testsuite>${'<a>'.repeat(100_000)}`],
  ['a file that breaks off', '<testsuite><testcase name="x">'],
])('%s are refused with a reason', (_what, text) => {
  expect(() => read(JUNIT, text)).toThrow(/entit|deep|unclosed/i);
});

test('cases beyond the bounds are counted, and neither names nor messages of a job are long or control a terminal', () => {
  const many = Array.from(
    { length: 3_000 },
    (_, at) =>
      `<testcase name="t${at}\u001b[2J${'x'.repeat(900)}"><failure message="${'m'.repeat(900)}"/></testcase>`,
  );
  const found = read(
    JUNIT,
    `<testsuite name="s">${many.join('').replaceAll('\u001b', '&#x85;')}</testsuite>`,
  );
  expect(found.totals).toMatchObject({ cases: 3_000, failed: 3_000 });
  expect(found.suites[0]?.failures).toHaveLength(30);
  expect(JSON.stringify(found).length).toBeLessThan(16_000);
  expect(JSON.stringify(found)).not.toMatch(/\u0085/u);
});

test('files are read in a thread, those that are something else are not, and one that is broken spoils no other', async () => {
  await using reader = createTestReader();
  const directory = await mkdtemp(join(tmpdir(), 'gatehouse-tests-'));
  const write = async (path: string, text: string) => {
    await mkdir(dirname(join(directory, path)), { recursive: true });
    await writeFile(join(directory, path), text);
  };
  await write('notes.html', '<testsuite>');
  expect(await reader.read(directory)).toBeUndefined();
  await write('other.xml', '<project/>');
  expect(await reader.read(directory)).toBeUndefined();
  await write('a/broken.xml', '<testsuite name="a"><testcase name="x"/><oops');
  await write('b/TEST-b.xml', JUNIT_TEXT);
  await write('c.tap', TAP_TEXT);
  await write('d.jsonl', GO_TEXT);
  await utimes(join(directory, 'c.tap'), 5, 5);
  const found = await reader.read(directory);
  expect(found?.totals).toEqual({ files: 4, suites: 5, cases: 12, failed: 5, skipped: 3 });
  expect(found?.problems).toEqual([
    expect.stringMatching(/^a\/broken\.xml was not read to its end: .*unclosed/),
  ]);
  expect(found?.suites.find(({ name }) => name === 'c.tap')?.writtenAt).toBe(5_000);
  expect(await reader.read(join(directory, 'nowhere'))).toBeUndefined();
  await rm(directory, { recursive: true });
});

test('a file that ends the thread is said to be unread, and the files of the next build are read', async () => {
  await using reader = createTestReader({ heapMb: 16 });
  const directory = await mkdtemp(join(tmpdir(), 'gatehouse-tests-'));
  await mkdir(join(directory, 'huge'));
  await mkdir(join(directory, 'next'));
  // The parser keeps the value of an attribute until it ends.
  await writeFile(join(directory, 'huge/a.xml'), `<testsuite name="${'grüße '.repeat(4_000_000)}"/>`);
  await writeFile(join(directory, 'next/b.xml'), JUNIT_TEXT);
  const [huge, next] = await Promise.all(['huge', 'next'].map(name => reader.read(join(directory, name))));
  expect(huge?.problems).toEqual([
    'the results of the tests could not be read: the worker thread ran out of memory',
  ]);
  expect(huge?.totals).toMatchObject({ files: 0, cases: 0 });
  expect(next?.totals).toMatchObject({ files: 1, cases: 4, failed: 2 });
  await rm(directory, { recursive: true });
});

test('what the plugin for Ansible writes starts no thread', async () => {
  await using reader = createTestReader({ waiting: -1 });
  const directory = await mkdtemp(join(tmpdir(), 'gatehouse-tests-'));
  await writeFile(join(directory, 'job-output.json'), '[\n\n]\n');
  expect(await reader.read(directory)).toBeUndefined();
  await writeFile(join(directory, 'other.json'), '[\n\n]\n');
  expect((await reader.read(directory))?.problems).toHaveLength(1);
  await rm(directory, { recursive: true });
});

test('suites are steps of the playbook that left their file, and are read from there again', () => {
  const at = (second: number) => fromMilliseconds(second * 1000);
  const playbook = (subject: string, from: number, to: number): Step => ({
    ...{ kind: 'Playbook', subject, startedAt: at(from), endedAt: at(to) },
  });
  const suite = { name: 'app', writtenAt: 15_000, ms: 4_000, cases: 2, failed: 1, skipped: 0 };
  const failures = [{ name: 'refuses', ms: 1_000, message: 'expected 401' }];
  const totals = { files: 1, suites: 1, cases: 2, failed: 1, skipped: 0 };
  const sum: Step = {
    kind: 'TestResults',
    subject: 'unit',
    startedAt: at(30),
    endedAt: at(31),
    facts: totals,
  };
  const steps = withTestSteps(
    [playbook('pre', 1, 9), playbook('run', 10, 20), playbook('post', 21, 30), sum],
    {
      totals,
      suites: [{ ...suite, failures }],
      problems: [],
      passed: [],
    },
  );
  expect(steps[1]?.steps?.[0]).toMatchObject({
    ...{ kind: 'TestSuite', subject: 'app', startedAt: at(11), endedAt: at(15), result: 'FAILURE' },
    steps: [{ kind: 'TestCase', subject: 'refuses', startedAt: at(14), facts: { caseStatus: 'fail' } }],
  });
  const results = testResultsOf({ steps });
  expect(results).toMatchObject({
    totals,
    failures: [{ suite: 'app', name: 'refuses', message: 'expected 401' }],
  });
  expect(results === undefined ? '' : testsText(results)).toBe('1 of 2 tests failed: app: refuses');
});

test('of cases without number those that failed lately and pass now are named, and no more', () => {
  const long = strangersLine('p'.repeat(5_000), 200);
  const watched = ['passes', 'fails', 'flakes', 'is skipped', 'is gone', long].map(name => ({
    suite: 'app',
    name,
  }));
  const cases = collectCases(watched);
  cases.file(0);
  const add = (name: string, status: 'passed' | 'failed' | 'skipped', suite = 'app') =>
    cases.add({ suite, name, status, ms: 1 });
  for (let at = 0; at < 100_000; at++) add(`case ${at}`, 'passed');
  add('passes', 'passed');
  add('passes', 'passed', 'other');
  add('fails', 'failed');
  add('flakes', 'failed');
  add('flakes', 'passed');
  add('is skipped', 'skipped');
  add('p'.repeat(5_000), 'passed');
  const found = cases.end();
  expect(found.passed.map(({ name }) => name)).toEqual(['passes', long]);
  expect(JSON.stringify(found).length).toBeLessThan(10_000);
});

test.each([
  ['1960', -315_619_200_000],
  ['the epoch', 0],
  ['the year 2300', 10_413_792_000_000],
  ['no time', Number.NaN],
])(
  'a file that a job dates to %s lies within a playbook all the same, and its durations count',
  (_what, writtenAt) => {
    const at = (second: number) => fromMilliseconds(second * 1000);
    const playbook: Step = { kind: 'Playbook', subject: 'run', startedAt: at(100), endedAt: at(110) };
    const failures = [{ name: 'refuses', ms: 50_000, message: '' }];
    const suite = { name: 'app', writtenAt, ms: 90_000, cases: 1, failed: 1, skipped: 0, failures };
    const totals = { files: 1, suites: 1, cases: 1, failed: 1, skipped: 0 };
    const steps = withTestSteps([playbook], { totals, suites: [suite], passed: [], problems: [] });
    const within = { startedAt: at(100), endedAt: at(110) };
    expect(steps[0]?.steps?.[0]).toMatchObject({ ...within, steps: [within] });
    const sum: Step = { kind: 'TestResults', subject: 'unit', ...within, facts: totals };
    const found = testResultsOf({ steps: [...steps, sum] });
    expect([found?.suites[0]?.ms, found?.failures[0]?.ms]).toEqual([90_000, 50_000]);
  },
);
