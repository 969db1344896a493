/** Spans in display order, open ones (`end` null) included. */

import { isBefore } from '../../lib/time-window.ts';
import type { SpanRecord } from '../../model/span.ts';
import { continuedSpan } from './links.ts';

/** One line of a drawn trace. */
export interface TraceRow {
  readonly span: SpanRecord;
  /** 0 for the root. */
  readonly depth: number;
  /** No sibling follows; needed to draw the lines of a tree. */
  readonly last: boolean;
}

/**
 * Depth first, siblings by start; spans whose parent is not among them count as roots. A root that continues one of them (a long
 * job's own trace) is drawn below that one.
 */
export function orderSpans(spans: readonly SpanRecord[]): readonly TraceRow[] {
  const ids = new Set(spans.map(span => span.spanId));
  const children = new Map<string | null, SpanRecord[]>();
  for (const span of spans) {
    const above = span.parent ?? continuedSpan(span);
    const parent = above !== null && ids.has(above) ? above : null;
    const list = children.get(parent);
    if (list === undefined) children.set(parent, [span]);
    else list.push(span);
  }
  const rows: TraceRow[] = [];
  const visit = (parent: string | null, depth: number) => {
    const siblings = (children.get(parent) ?? []).sort(byStart);
    siblings.forEach((span, index) => {
      rows.push({ span, depth, last: index === siblings.length - 1 });
      visit(span.spanId, depth + 1);
    });
  };
  visit(null, 0);
  return rows;
}

/** Stable: spans with the same start keep the order of the records. */
function byStart(a: SpanRecord, b: SpanRecord): number {
  if (a.start === b.start) return 0;
  return isBefore(a.start, b.start) ? -1 : 1;
}
