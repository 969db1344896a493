import { describe, expect, test } from 'vitest';
import type { QueueItem } from '../../../../src/model/queue-item.ts';
import {
  itemReport,
  type ReportOccasion,
  type ReportSurroundings,
} from '../../../../src/scheduler/report/report-facts.ts';
import { reportText } from '../../../../src/scheduler/report/report-text.ts';
import { gatePipeline } from '../../../fake/pipeline.ts';
import { ahead, itemStory, jobNode } from '../../../fake/queue-item.ts';

const pipeline = gatePipeline();
const context = { root: 'http://gate.example', tenant: 'acme', pipeline, jobs: [], traceUrl: null };
const reportOn = (
  action: ReportOccasion['action'],
  item: QueueItem,
  around: ReportSurroundings = context,
  text?: string,
) => itemReport({ action, result: '', ...(text === undefined ? {} : { text }) }, item, around);
const textOf = (...report: Parameters<typeof reportOn>) => reportText(reportOn(...report));
const withoutIds = (text: string) => text.replaceAll(/[0-9a-f]{32}/g, '<uuid>');

describe('the text of a report', () => {
  test('has one line per job, in the form tools parse', () => {
    const story = itemStory()
      .merge()
      .wait(10)
      .merged()
      .freeze([jobNode('lint'), jobNode('unit-tests')])
      .wait(5);
    story
      .start('lint')
      .start('unit-tests')
      .wait(62_000)
      .finish('lint', 'SUCCESS')
      .wait(1000)
      .finish('unit-tests', 'FAILURE');
    expect(withoutIds(textOf('failure', story.item, context))).toBe(
      [
        'Build failed (gate).',
        'http://gate.example/t/acme/item/<uuid>',
        '',
        '- lint http://gate.example/t/acme/build/<uuid> : SUCCESS in 1m 02s',
        '- unit-tests http://gate.example/t/acme/build/<uuid> : FAILURE in 1m 03s',
      ].join('\n'),
    );
  });

  test('says how often it was tested again, and because of whom', () => {
    const story = itemStory()
      .merge()
      .wait(10)
      .merged()
      .freeze([jobNode('unit-tests')])
      .wait(5)
      .start('unit-tests')
      .wait(100);
    story
      .reset('item-ahead-failed', ahead())
      .merge()
      .wait(10)
      .merged()
      .freeze([jobNode('unit-tests')])
      .start('unit-tests')
      .wait(5)
      .finish('unit-tests', 'SUCCESS');
    const text = textOf('success', story.item, context);
    expect(text.split('\n').at(-1)).toMatch(
      /^Tested again because an item ahead failed: .+ ended with FAILURE\.$/,
    );
  });

  test('uses the words of the pipeline where it has some, and its footer', () => {
    const own = { ...pipeline, messages: { success: 'Well done.', footer: 'Ask in #gate.' } };
    const lines = textOf('success', itemStory().item, { ...context, pipeline: own }).split('\n');
    expect([lines[0], lines.at(-1)]).toEqual(['Well done.', 'Ask in #gate.']);
  });

  test('leads to the trace when all is over', () => {
    const traced = { ...context, traceUrl: 'http://jaeger.example/trace/1' };
    const { item } = itemStory();
    expect(textOf('success', item, traced).split('\n')[2]).toBe('Trace: http://jaeger.example/trace/1');
    expect(textOf('start', item, traced)).not.toContain('Trace');
  });

  test('at the start is two lines', () => {
    expect(textOf('start', itemStory().item, context).split('\n')).toHaveLength(2);
  });

  test('gives a refusal the reason it was given', () => {
    expect(
      textOf('failure', itemStory().item, context, 'This change depends on a change that failed to merge.'),
    ).toContain('depends on a change that failed');
  });
});
