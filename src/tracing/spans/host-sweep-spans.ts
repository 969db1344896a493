/**
 * The trace of a listener's pass over a code host: `HostSweep <connection>` → `HostQuery`, `HostWait`.
 *
 * The events that the pass found have traces of their own, which say `sweep` as the place they were found.
 */
import type { Uuid } from '../../lib/ids.ts';
import type { HostPass } from '../../model/host-pass.ts';
import type { ConnectionName } from '../../model/project.ts';
import type { SpanRecord } from '../../model/span.ts';
import { eventTrace } from './event-context.ts';
import type { SpanStyle } from './span-options.ts';
import { spanOf } from './span-plan.ts';
import { planSteps } from './step-spans.ts';

/** One pass; the caller bounds its steps. */
export interface HostSweepFacts extends HostPass {
  /** Its trace id. */
  readonly pass: Uuid;
  readonly connection: ConnectionName;
}

/** The root first. @returns none when the pass found nothing. */
export function hostSweepSpans(facts: HostSweepFacts, style: SpanStyle): readonly SpanRecord[] {
  const { connection, missed, redelivered, closed } = facts;
  if (missed + redelivered + closed === 0) return [];
  const window = { start: facts.startedAt, end: facts.endedAt };
  const trace = eventTrace(facts.pass, window, {}, style);
  const root = spanOf({
    ...trace.draft,
    kind: 'HostSweep',
    subject: connection,
    id: trace.root.id(),
    parent: null,
    ...window,
    own: {
      connection,
      sweptProjects: facts.projects,
      sweptChanges: facts.changes,
      missedCount: missed,
      redeliveredCount: redelivered,
      closedCount: closed,
    },
  });
  const steps = planSteps(trace, { key: 'host', parent: trace.root, own: { connection } }, facts.steps);
  return [root, ...steps.map(plan => plan.make())];
}
