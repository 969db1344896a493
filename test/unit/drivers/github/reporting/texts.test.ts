/** Texts within GitHub's limits, and free of what others may write into them. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { planAnnotations } from '../../../../../drivers/github/reporting/annotations.ts';
import { LONGEST_BODY } from '../../../../../drivers/github/reporting/longest-body.ts';
import { markdownLink, markdownText } from '../../../../../drivers/github/reporting/markdown-text.ts';
import { reportSummary, reportTitle } from '../../../../../drivers/github/reporting/report-summary.ts';
import { wantedRun } from '../../../../../drivers/github/reporting/wanted-run.ts';
import { fromMilliseconds } from '../../../../../src/lib/clock.ts';
import { cutAtLine, cutBytes, cutLine } from '../../../../../src/lib/cut-text.ts';
import { projectKey } from '../../../../../src/model/project.ts';
import type { FileComment, ReportedJob } from '../../../../../src/model/report.ts';
import { sampleReport } from '../../../../fake/report.ts';

const anyText = fc.string({ unit: 'binary', maxLength: 400 });
const app = projectKey({ connection: 'github', name: 'acme/app' });

describe('a text', () => {
  test('that is cut fits its limit, is well-formed and ends with the link', () => {
    fc.assert(
      fc.property(anyText, fc.integer({ min: 20, max: 300 }), (text, limit) => {
        const cut = cutAtLine(text, limit, '[all]');
        expect(cut.length).toBeLessThanOrEqual(limit);
        expect(cut.isWellFormed()).toBe(true);
        expect(cut === text || cut.endsWith('[all]')).toBe(true);
      }),
    );
  });

  test('of several lines is cut at the end of a line', () => {
    expect(cutAtLine('one\ntwo\nthree\nfour', 16, '[all]')).toBe('one\ntwo\n\n[all]');
  });

  test('is cut by bytes without half a character', () => {
    fc.assert(
      fc.property(anyText, fc.integer({ min: 3, max: 200 }), (text, limit) => {
        const cut = cutBytes(text, limit);
        expect(Buffer.byteLength(cut)).toBeLessThanOrEqual(limit);
        expect(cut.isWellFormed()).toBe(true);
      }),
    );
  });

  test('of one line stays one line', () => {
    fc.assert(
      fc.property(anyText, fc.integer({ min: 1, max: 100 }), (text, limit) => {
        const line = cutLine(text, limit);
        expect(line.length).toBeLessThanOrEqual(limit);
        expect(line.isWellFormed()).toBe(true);
        expect(line).not.toMatch(/[\r\n]/);
      }),
    );
  });

  test('of others makes no markup, and mentions no user', () => {
    expect(markdownText('<img src=x> | **b** `c` [d](e) @alice\n# f')).toBe(
      '&lt;img src=x&gt; \\| \\*\\*b\\*\\* \\`c\\` \\[d\\](e) @\u200balice \\# f',
    );
    expect(markdownLink('unit', 'http://gate/a b(c)')).toBe('[unit](http://gate/a%20b%28c%29)');
    expect(markdownLink('unit', 'javascript:alert(1)')).toBe('unit');
  });
});

const job = (parts: Partial<ReportedJob> = {}): ReportedJob => ({
  name: 'unit',
  result: 'SUCCESS',
  voting: true,
  url: 'http://gate.example.org/t/acme/build/1',
  startedAt: fromMilliseconds(1_000),
  endedAt: fromMilliseconds(63_000),
  ...parts,
});

describe('the summary', () => {
  test('has the jobs with links, results and times, and what the change was tested again for', () => {
    const report = sampleReport({
      result: 'FAILURE',
      headline: 'Build failed (gate).',
      jobs: [
        job({ result: 'FAILURE', detail: '3 tests failed' }),
        job({ name: 'lint', voting: false }),
        job({ name: 'docs', result: null, url: null, startedAt: null, endedAt: null }),
      ],
      retests: ['the change ahead failed'],
    });
    expect(reportSummary(report)).toMatchInlineSnapshot(`
      "**Build failed (gate).** [Item](http://gate.example.org/t/acme/item/4f0c)

      - Tested again because the change ahead failed.

      | Job | Result | Time |
      |---|---|---|
      | [unit](http://gate.example.org/t/acme/build/1) | FAILURE: 3 tests failed | 1m 02s |
      | [lint](http://gate.example.org/t/acme/build/1) | SUCCESS (non-voting) | 1m 02s |
      | docs |  |  |"
    `);
    expect(reportTitle(report)).toBe('FAILURE: unit');
  });

  test('of 200 KB is cut at a line, with a link (case 44)', () => {
    const report = sampleReport({
      jobs: Array.from({ length: 3_000 }, (_, at) => job({ name: `job-${at}` })),
    });
    const summary = reportSummary(report);
    expect(summary.length).toBeLessThanOrEqual(LONGEST_BODY);
    const [row, , last] = summary.split('\n').slice(-3);
    expect(row).toMatch(/^\| .* \|$/);
    expect(last).toBe('Cut here: [all of it](http://gate.example.org/t/acme/item/4f0c)');
  });

  test('fits for any report', () => {
    fc.assert(
      fc.property(anyText, fc.array(anyText, { maxLength: 300 }), anyText, (headline, causes, footer) => {
        const repeated = causes.flatMap(cause => Array.from({ length: 20 }, () => cause));
        const report = sampleReport({ headline, retests: repeated, footer });
        expect(reportSummary(report).length).toBeLessThanOrEqual(LONGEST_BODY);
        expect(reportTitle({ ...report, result: '' }).length).toBeLessThanOrEqual(255);
      }),
      { numRuns: 20 },
    );
  });
});

describe('a check run', () => {
  test('carries the times of its builds', () => {
    const jobs = [
      job(),
      job({ startedAt: fromMilliseconds(500), endedAt: fromMilliseconds(2_000) }),
      job({ startedAt: null, endedAt: null }),
    ];
    expect(wantedRun(sampleReport({ jobs }), 'success')).toMatchObject({
      name: 'acme/gate',
      external_id: 'acme/gate/4f0c0000000000000000000000000001',
      status: 'completed',
      conclusion: 'success',
      started_at: '1970-01-01T00:00:00.500Z',
      completed_at: '1970-01-01T00:01:03.000Z',
      actions: [],
      output: { title: 'SUCCESS' },
    });
  });

  test('offers to dequeue the item while it runs, within GitHub’s limits', () => {
    const { status, actions } = wantedRun(sampleReport({ action: 'start', result: '' }), 'in_progress');
    expect(status).toBe('in_progress');
    expect(actions.map(({ identifier }) => identifier)).toEqual(['dequeue']);
    for (const { label, description, identifier } of actions) {
      expect(label.length).toBeLessThanOrEqual(20);
      expect(identifier.length).toBeLessThanOrEqual(20);
      expect(description.length).toBeLessThanOrEqual(40);
    }
  });
});

describe('annotations', () => {
  const comment = (parts: Partial<FileComment> = {}): FileComment => ({
    project: app,
    branch: 'main',
    file: 'src/a.ts',
    line: 3,
    severity: 'error',
    text: 'unused',
    ...parts,
  });
  const place = { project: app, branch: 'main' };

  test('are valid for any remark, and the text counts what is left out (case 43)', () => {
    const comments = [
      ...Array.from({ length: 230 }, (_, at) => comment({ line: at })),
      ...Array.from({ length: 12 }, () => comment({ file: 'other.ts' })),
      comment({ project: projectKey({ connection: 'github', name: 'acme/lib' }) }),
    ];
    const { annotations, leftOut } = planAnnotations(comments, place, new Set(['src/a.ts']));
    expect(annotations).toHaveLength(200);
    expect(annotations[0]).toEqual({
      path: 'src/a.ts',
      start_line: 1,
      end_line: 1,
      annotation_level: 'failure',
      message: 'unused',
    });
    expect(leftOut[0]).toBe(
      '42 of 242 remarks are not shown as annotations: 12 about files that the pull request does not change, 30 beyond the first 200.',
    );
    expect(leftOut[1]?.split('\n')).toHaveLength(10);
  });

  test('have the level of a remark, and its range', () => {
    const range = { startLine: 2, startCharacter: 0, endLine: 4, endCharacter: 1 };
    const { annotations } = planAnnotations([comment({ severity: 'info', line: 4, range })], place, null);
    expect(annotations).toMatchObject([{ annotation_level: 'notice', start_line: 2, end_line: 4 }]);
  });

  test('are all kept where the files are not known', () => {
    const { annotations, leftOut } = planAnnotations([comment({ file: 'other.ts' })], place, null);
    expect(annotations).toHaveLength(1);
    expect(leftOut).toEqual([]);
  });

  test('never have an empty or too long message, nor a line before the first', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.double(), fc.boolean(), (text, line, isLong) => {
        const long = isLong ? text.padEnd(70_000, 'ü') : text;
        const plan = planAnnotations([comment({ text: long, line })], place, null);
        const [only] = plan.annotations;
        expect(only?.message.trim()).not.toBe('');
        expect(Buffer.byteLength(only?.message ?? '')).toBeLessThanOrEqual(65_536);
        expect(only?.start_line).toBeGreaterThanOrEqual(1);
        expect(Number.isSafeInteger(only?.start_line)).toBe(true);
      }),
      { numRuns: 50 },
    );
  });
});
