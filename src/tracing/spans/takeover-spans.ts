/**
 * `Takeover`: the pipeline went from one scheduler to another while the item was in it. It overlaps the waits and the work, which cover
 * the item without it: executors may go on meanwhile.
 */
import { derivedSpanId } from '../../lib/ids.ts';
import { isBefore } from '../../lib/time-window.ts';
import type { QueueItem } from '../../model/queue-item.ts';
import type { Takeover } from '../../model/takeover.ts';
import type { Gap } from '../../model/work-windows.ts';
import type { AttributeInput } from '../attribute-values.ts';
import type { ItemContext } from './item-context.ts';
import { type SpanPlan, spanOf } from './span-plan.ts';

/** One per listed takeover, ended from the start; those only counted in `moreTakeovers` have no span. */
export function planTakeovers(context: ItemContext): readonly SpanPlan[] {
  return (context.item.takeovers ?? []).map(takeover => planTakeover(context, takeover));
}

function planTakeover(context: ItemContext, takeover: Takeover): SpanPlan {
  const { root } = context;
  const { since, at, from, to, how } = takeover;
  return {
    key: `takeover/${at}`,
    end: at,
    make: () =>
      spanOf({
        ...context.draft,
        kind: 'Takeover',
        id: derivedSpanId(root.id(), `Takeover ${at}`, 0),
        parent: root,
        start: since,
        end: at,
        own: { takeoverFrom: from, takeoverTo: to, takeoverHow: how },
      }),
  };
}

/** Attributes of the first takeover that a wait for the scheduler overlaps. */
export function takeoverWithin({ takeovers = [] }: QueueItem, { start, end }: Gap): AttributeInput {
  const found = takeovers.find(({ since, at }) => isBefore(since, end) && isBefore(start, at));
  return found === undefined ? {} : { takeoverFrom: found.from, takeoverTo: found.to };
}

/** Listed and unlisted ones; undefined: the pipeline stayed with one scheduler. */
export function takeoverCount({ takeovers, moreTakeovers }: QueueItem): number | undefined {
  return takeovers === undefined ? undefined : takeovers.length + (moreTakeovers?.count ?? 0);
}
