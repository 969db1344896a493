/** What a job leaves about its tests is in the trace, the answers and the report, and the history says whether a failure is new. */
import { expect } from 'vitest';
import type { TestsDocument } from '../../src/api/tests.ts';
import type { Explanation } from '../../src/explain/explain.ts';
import { layoutWith } from './layouts.ts';
import { TENANT } from './site.ts';
import { story } from './story.ts';

const layout = layoutWith(
  `
- job: {name: unit, run: playbooks/unit.sh}
- project:
    name: org/project
    gate: {jobs: [unit]}
`,
  { notes: false },
);
const configFiles = {
  'playbooks/unit.sh': `#!/bin/sh
fail() { echo "<testcase name='$1' time='0.25'><failure message='$1 is wrong'/></testcase>"; }
{
  echo "<testsuite name='app'><testcase name='starts' time='0.1'/>"
  if [ -f fixed.txt ]; then echo "<testcase name='login' time='0.1'/>"; else fail login; fi
  [ ! -f search.txt ] || fail search
  echo '</testsuite>'
} > "$ZUUL_LOG_DIR/results.xml"
exit 1
`,
};

interface Build {
  readonly uuid: string;
  readonly error_detail: string;
  readonly gatehouse: { readonly item: string; readonly tests?: object };
}

story(
  'a test that failed is named where people look, and it is said whether another change failed it too',
  { layout, configFiles },
  async world => {
    await world.propose('A');
    await world.approve('A');
    await world.leaves('A', 'FAILURE');
    const newest = async () => {
      const [build] = await world.api.get<readonly Build[]>(`/api/tenant/${TENANT}/builds`);
      return build ?? expect.unreachable();
    };
    const testsOf = ({ uuid }: Build) =>
      world.api.get<TestsDocument>(`/api/tenant/${TENANT}/build/${uuid}/tests`);
    const first = await newest();
    expect(first.error_detail).toMatch(/ended with status 1; 1 of 2 tests failed: app: login$/);
    expect((await testsOf(first)).failures).toMatchObject([
      { suite: 'app', name: 'login', message: 'login is wrong', ms: 250, elsewhere: null },
    ]);

    await world.propose('B', { files: { 'search.txt': '' } });
    await world.approve('B');
    const left = await world.leaves('B', 'FAILURE');
    const second = await newest();
    const found = await testsOf(second);
    expect(found).toMatchObject({
      totals: { files: 1, suites: 1, cases: 3, failed: 2, skipped: 0 },
      failures: [
        { name: 'login', elsewhere: { changes: 1, last: { build: first.uuid } } },
        { name: 'search', elsewhere: null },
      ],
    });
    const { gatehouse } = await world.api.get<Build>(`/api/tenant/${TENANT}/build/${second.uuid}`);
    expect(gatehouse.tests).toEqual({ cases: 3, failed: 2, skipped: 0, failed_elsewhere: 1 });
    const explained = await world.api.get<Explanation>(`/api/tenant/${TENANT}/item/${left.uuid}/explain`);
    expect(explained.failedTests.map(({ name, elsewhere }) => [name, elsewhere?.changes])).toEqual([
      ['login', 1],
      ['search', undefined],
    ]);

    await world.propose('C', { files: { 'fixed.txt': '' } });
    await world.approve('C');
    await world.leaves('C', 'FAILURE');
    await world.propose('D');
    await world.approve('D');
    await world.leaves('D', 'FAILURE');
    const [login] = (await testsOf(await newest())).failures;
    expect(login).toMatchObject({
      ...{ name: 'login', runs: { failed: 2, passed: 1, unchanged: 0, here: 0 } },
      judged: 'failed 2 of 3 runs in 14 days, on 2 other changes',
    });

    const spans = await world.observer.until('the spans of the second change', () => {
      const own = world.sink.spans.filter(({ traceId }) => traceId === left.uuid);
      return own.some(({ parentSpanId }) => parentSpanId === null) ? own : undefined;
    });
    const named = (start: string) => spans.filter(({ name }) => name.startsWith(start));
    const [playbook] = named('Playbook ');
    const [suite] = named('TestSuite ');
    expect(suite).toMatchObject({
      parentSpanId: playbook?.spanId,
      attributes: {
        'test.suite.name': 'app',
        'test.suite.run.status': 'failure',
        'gatehouse.tests.failed': 2,
      },
    });
    expect(named('TestCase ').map(({ attributes, parentSpanId }) => [parentSpanId, attributes])).toEqual(
      ['login', 'search'].map(name => [
        suite?.spanId,
        expect.objectContaining({
          ...{ 'test.case.name': name, 'test.case.result.status': 'fail', 'test.suite.name': 'app' },
        }),
      ]),
    );
    expect(named('TestResults ')[0]?.attributes).toMatchObject({ 'gatehouse.tests.cases': 3 });
    expect(JSON.stringify(spans, (_, value) => String(value))).not.toContain('is wrong');
  },
);
