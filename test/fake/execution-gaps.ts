/** Every moment an executor worked belongs to a step of it: one begins where the one before it ended. */
import type { CheckedSpan } from './check-traces.ts';

/** From one repository to the next is a few instructions, on a machine that does other things as well. */
const TOLERANCE_NS = 25_000_000n;

/** One sentence per stretch of a `JobExecution` without a step. */
export function executionGaps(spans: readonly CheckedSpan[]): readonly string[] {
  const children = Map.groupBy(spans, ({ traceId, parentSpanId }) => `${traceId} ${parentSpanId}`);
  return spans
    .filter(span => span.attributes['gatehouse.span.type'] === 'JobExecution')
    .flatMap(span => gapsOf(span, children.get(`${span.traceId} ${span.spanId}`) ?? []));
}

function gapsOf(execution: CheckedSpan, steps: readonly CheckedSpan[]): readonly string[] {
  const gaps: string[] = [];
  let covered = execution.start;
  const reach = (until: bigint, what: string) => {
    if (until - covered > TOLERANCE_NS)
      gaps.push(
        `trace ${execution.traceId}: ${until - covered} ns of ${execution.name} before ${what} are in no step`,
      );
  };
  for (const step of steps.toSorted((a, b) => Number(a.start - b.start))) {
    reach(step.start, step.name);
    if (step.end > covered) covered = step.end;
  }
  const relations = execution.links.map(link => link.attributes['gatehouse.link.relation']);
  // What is left of a divided build is in its other trace.
  if (!relations.includes('continues_in')) reach(execution.end, 'its end');
  return gaps;
}
