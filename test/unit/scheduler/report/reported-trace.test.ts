import { describe, expect, test } from 'vitest';
import { reportedTrace } from '../../../../src/scheduler/report/reported-trace.ts';
import { itemStory } from '../../../fake/queue-item.ts';

const { item } = itemStory();
const viewer = (host: string) => ({ template: `http://${host}/trace/{trace_id}`, service: 'gatehouse' });

describe('the trace a report leads to', () => {
  test.each([
    ['jaeger.example', 'https://gate.example', true],
    ['jaeger.example', 'http://localhost:9000', true],
    ['localhost:16686', 'http://127.0.0.1:9000', true],
    ['[::1]:16686', 'http://localhost:9000', true],
    ['localhost:16686', 'https://gate.example', false],
  ])('at %s, of a service at %s: %s', (host, root, reported) => {
    expect(reportedTrace(viewer(host), root, item)).toBe(
      reported ? `http://${host}/trace/${item.uuid}` : null,
    );
  });

  test('is none of an item that is not exported, or without a viewer', () => {
    expect(reportedTrace(null, 'http://gate', item)).toBeNull();
    expect(reportedTrace(viewer('jaeger'), 'http://gate', { ...item, sampled: false })).toBeNull();
  });
});
