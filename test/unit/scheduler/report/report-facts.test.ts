import { describe, expect, test } from 'vitest';
import { changeText } from '../../../../src/model/change.ts';
import type { Pipeline } from '../../../../src/model/pipeline.ts';
import { itemReport, refusalReport } from '../../../../src/scheduler/report/report-facts.ts';
import { reportText } from '../../../../src/scheduler/report/report-text.ts';
import { reportOf, storedReport } from '../../../../src/scheduler/report/stored-report.ts';
import { gatePipeline } from '../../../fake/pipeline.ts';
import { APP, itemStory, jobNode, proposedChange } from '../../../fake/queue-item.ts';

const context = {
  root: 'http://gate.example',
  tenant: 'acme',
  pipeline: gatePipeline(),
  jobs: [],
  traceUrl: 'http://jaeger.example/trace/1',
};
const frozen = (...jobs: readonly string[]) =>
  itemStory()
    .merge()
    .merged()
    .freeze(jobs.map(job => jobNode(job)));

describe('the data of a report', () => {
  test('has every job with its facts, those that are still to run as well', () => {
    const story = frozen('lint', 'unit', 'docs', 'deploy').wait(5);
    story.start('lint').wait(62_000).finish('lint', 'SUCCESS').start('unit').skip('deploy', 'unit');
    const builds = story.item.buildset.builds.filter(({ job }) => job !== 'docs');
    const item = { ...story.item, buildset: { ...story.item.buildset, builds } };
    const report = itemReport({ action: 'failure', result: 'FAILURE' }, item, context);
    const { jobs, place, changes, urls } = report;
    const none = { startedAt: null, endedAt: null, voting: true };
    const url = expect.stringMatching(/^http:\/\/gate\.example\/t\/acme\/build\/[0-9a-f]{32}$/);
    const [startedAt, endedAt] = [expect.any(String), expect.any(String)];
    expect(jobs).toEqual([
      { name: 'lint', result: 'SUCCESS', voting: true, url, startedAt, endedAt },
      { name: 'unit', result: null, url, ...none },
      { name: 'docs', result: null, url: null, ...none },
      { name: 'deploy', result: 'SKIPPED', url, ...none, detail: 'because of unit' },
    ]);
    expect(place).toEqual({
      tenant: 'acme',
      pipeline: 'gate',
      queue: { name: 'integrated', entryPosition: item.position ?? null },
    });
    expect(changes).toEqual(item.changes);
    expect(urls).toEqual({ item: `http://gate.example/t/acme/item/${item.uuid}`, trace: context.traceUrl });
  });

  test('has ten of the warnings of its jobs, each in one line, once it is over', () => {
    const story = frozen('unit', 'lint').start('unit').finish('unit', 'SUCCESS');
    const warnings = Array.from({ length: 12 }, (_, index) => `old\n- lint : FAILURE ${index}`);
    const builds = story.item.buildset.builds.map(build => {
      const { state } = build;
      return state.state === 'completed' ? { ...build, state: { ...state, returned: { warnings } } } : build;
    });
    const item = { ...story.item, buildset: { ...story.item.buildset, builds } };
    const report = itemReport({ action: 'success', result: 'SUCCESS' }, item, context);
    expect(report.warnings).toEqual([
      ...Array.from({ length: 10 }, (_, index) => `unit: old - lint : FAILURE ${index}`),
      'and 2 more',
    ]);
    expect(reportText(report)).toContain('\nWarning:\n  unit: old - lint : FAILURE 0\n');
    expect(itemReport({ action: 'start', result: '' }, item, context).warnings).toBeUndefined();
  });

  test('comments on the lines of the change whose configuration is wrong, and on no other project', () => {
    const { item } = itemStory();
    const error = {
      severity: 'error',
      project: APP,
      branch: 'master',
      file: 'zuul.yaml',
      line: 4,
      column: 3,
      code: 'unknown-key',
      text: 'unknown key "tiemout"',
    } as const;
    const elsewhere = { ...error, branch: 'stable' };
    const buildset = { ...item.buildset, configErrors: [error, elsewhere] };
    const report = itemReport(
      { action: 'config-error', result: 'CONFIG_ERROR' },
      { ...item, buildset },
      context,
    );
    expect(report.reason).toEqual({ kind: 'configuration', errors: [error, elsewhere] });
    const { column: _, code: __, ...comment } = error;
    expect(report.fileComments).toEqual([comment]);
  });

  test.each(['start', 'success', 'no-jobs'] as const)('is stored with its text and read back: %s', action => {
    const { item } = frozen('lint').start('lint').finish('lint', 'SUCCESS');
    const report = itemReport({ action, result: 'SUCCESS' }, item, context);
    const stored = JSON.parse(JSON.stringify(storedReport(report)));
    expect(reportOf(stored)).toEqual({ ...report, text: reportText(report) });
  });

  test('of a refusal has the reason, and no item', () => {
    const change = proposedChange('master/login');
    const occasion = {
      action: 'failure',
      result: '',
      text: 'It depends on a change that is not here.',
    } as const;
    const report = refusalReport(occasion, change, context);
    expect(report).toMatchObject({ item: null, changes: [change], jobs: [], place: { queue: null } });
    expect(reportText(report)).toBe('Build failed (gate).\n\nIt depends on a change that is not here.');
  });
});

describe('messages of a pipeline', () => {
  const report = (action: 'start' | 'success' | 'failure', messages: Pipeline['messages']) => {
    const { item } = itemStory();
    return itemReport({ action, result: '' }, item, { ...context, pipeline: gatePipeline({ messages }) });
  };

  test('of the start have replacement fields; others are as they are written', () => {
    const message = '{pipeline} tests {changes}: {item_url}, {status_url}';
    const { headline, urls, changes } = report('start', { start: message });
    const all = changes.map(changeText).join(' ');
    expect(headline).toBe(`gate tests ${all}: ${urls.item}, http://gate.example/t/acme/status`);
    expect(report('success', { success: message }).headline).toBe(message);
  });

  test('may be empty: the line is left out, and so is the footer', () => {
    const empty = report('failure', { failure: '', footer: '' });
    expect(empty).not.toHaveProperty('footer');
    expect(reportText(empty).split('\n')[0]).toBe(empty.urls.item);
  });
});
