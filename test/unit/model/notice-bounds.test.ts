import { expect, test } from 'vitest';
import { noticeBounds } from '../../../src/model/notice-bounds.ts';

const MINUTE = 60_000;
const rule = {
  events: ['head-stuck', 'eta-slipped'] as const,
  ...{ tenants: ['acme'], pipelines: ['gate'], stuckAfterMs: 10 * MINUTE, slippedByMs: 60 * MINUTE },
};

test('a pipeline has the least bounds of the rules that want the event of it, and the defaults without', () => {
  const rules = [
    rule,
    { ...rule, tenants: [], pipelines: [], events: ['eta-slipped'] as const, slippedByMs: 5 * MINUTE },
    { ...rule, events: ['landed'] as const, stuckAfterMs: MINUTE },
  ];
  expect(noticeBounds(rules, 'acme', 'gate')).toEqual({ stuckAfterMs: 10 * MINUTE, slippedByMs: 5 * MINUTE });
  expect(noticeBounds(rules, 'acme', 'check')).toEqual({
    stuckAfterMs: 30 * MINUTE,
    slippedByMs: 5 * MINUTE,
  });
  expect(noticeBounds([rule], 'other', 'gate')).toEqual({
    stuckAfterMs: 30 * MINUTE,
    slippedByMs: 30 * MINUTE,
  });
});
