/**
 * The trace of an answer in words at a code host: `HostAnswer <connection>` → `HostQuery`, `HostWait`, from the first question to the
 * answer, or to when it was given up.
 *
 * It links to the traces of the events that asked, and is not below them: they end when their question is stored.
 */
import type { Nanoseconds } from '../../lib/clock.ts';
import type { Uuid } from '../../lib/ids.ts';
import type { Change, ChangeKey } from '../../model/change.ts';
import type { EventOrigin } from '../../model/event.ts';
import type { ConnectionName } from '../../model/project.ts';
import type { SpanRecord } from '../../model/span.ts';
import type { Step } from '../../model/step.ts';
import { aboutAttributes } from './change-attributes.ts';
import { eventTrace } from './event-context.ts';
import { linkTo } from './links.ts';
import type { SpanOptions } from './span-options.ts';
import { spanOf } from './span-plan.ts';
import { planSteps } from './step-spans.ts';

/** One answer, to all that asked about a change until then. */
export interface HostAnswerFacts {
  /** Its trace id. */
  readonly answer: Uuid;
  readonly connection: ConnectionName;
  /** A key when the change is not known any more. */
  readonly change: Change | ChangeKey;
  /** Who asked last, as the host names them. */
  readonly by: string;
  /** Of the questions, oldest first. */
  readonly origins: readonly EventOrigin[];
  /** The first question's. */
  readonly askedAt: Nanoseconds;
  readonly endedAt: Nanoseconds;
  /** Calls of the driver by this process. */
  readonly tries: number;
  /** `failed`: it was refused. `host`: the code host did not serve for too long. */
  readonly outcome: 'done' | 'failed' | 'host';
  /** Of all tries; the caller bounds them. */
  readonly steps: readonly Step[];
}

/** Links of one answer; the newest questions have one. */
const MOST_LINKS = 16;

/** The root first. @returns none when no event that asked is sampled. */
export function hostAnswerSpans(facts: HostAnswerFacts, options: SpanOptions): readonly SpanRecord[] {
  const { connection, outcome } = facts;
  const asked = facts.origins.filter(({ sampled }) => sampled).slice(-MOST_LINKS);
  if (asked.length === 0) return [];
  const window = { start: facts.askedAt, end: facts.endedAt };
  const trace = eventTrace(facts.answer, window, {}, options);
  const root = spanOf({
    ...trace.draft,
    kind: 'HostAnswer',
    subject: connection,
    id: trace.root.id(),
    parent: null,
    ...window,
    result: outcome === 'done' ? 'SUCCESS' : 'ERROR',
    own: {
      ...aboutAttributes(facts.change, null, options),
      connection,
      by: facts.by,
      attemptCount: facts.tries,
      reportOutcome: outcome === 'done' ? 'done' : 'failed',
      reason: outcome === 'done' ? undefined : outcome,
      linkFollows: asked.length === 1 ? asked[0]?.span.traceId : asked.map(({ span }) => span.traceId),
    },
    links: asked.map(({ span }) => linkTo(span, 'follows')),
  });
  const steps = planSteps(trace, { key: 'host', parent: trace.root, own: { connection } }, facts.steps);
  return [root, ...steps.map(plan => plan.make())];
}
