/**
 * Check 25a: what was sent would be shown by Jaeger as it is, without a warning and without an orphan, and the addresses our API
 * gives lead there: to the trace, and to all traces of an item.
 *
 * Jaeger's rules stand in for Jaeger (`jaeger-rules.ts`), on the spans the sink got; `npm run test:jaeger` sends the same story to a
 * real one.
 */
import { expect } from 'vitest';
import type { LiveItem } from '../../src/api/live-item.ts';
import { DEMO, dequeueByHand, playDemo } from '../scenario/demo-story.ts';
import { story } from '../scenario/story.ts';
import { jaegerWarnings, searched } from './jaeger-rules.ts';
import { semanticProblems } from './span-semantics.ts';
import { kindOf, linked } from './spans-by.ts';

story(
  'check 25a: a reset, a retry, a conflict, a long job and a command give nothing Jaeger would warn of, and our addresses find them',
  DEMO,
  async world => {
    await dequeueByHand(world);
    await playDemo(world);
    const { spans } = world.sink;
    expect(jaegerWarnings(spans)).toEqual([]);
    expect(semanticProblems(spans)).toEqual([]);

    const dequeue = spans.find(span => kindOf(span) === 'ManagementEvent');
    const request = linked(dequeue, 'caller', spans);
    // It ends with the pipeline's turn, whenever that is; so nothing of it is below what the command did.
    expect(request?.name).toMatch(/^POST .*\/dequeue$/);
    expect(spans.filter(span => span.parentSpanId === request?.spanId)).toEqual([]);

    const roots = spans.filter(span => kindOf(span) === 'QueueItem');
    expect(roots).toHaveLength(5);
    for (const root of roots) {
      const item = await world.api.get<LiveItem>(`/api/tenant/tenant-one/item/${root.traceId}`);
      const link = new URL(item.traceUrl ?? '');
      expect([link.pathname, link.searchParams.get('uiFind')]).toEqual([
        `/trace/${root.traceId}`,
        root.spanId,
      ]);
      const tenant = linked(root, 'follows', spans);
      const event = linked(tenant, 'follows', spans);
      const own = spans.filter(
        span =>
          span.parentSpanId === null && span.attributes['gatehouse.link.continued_from'] === root.traceId,
      );
      const whole = [root, tenant, event, ...own].map(span => span?.traceId ?? 'not arrived');
      expect([...searched(item.tracesUrl ?? '', spans)].toSorted()).toEqual([...new Set(whole)].toSorted());
    }
  },
);
