/**
 * The trace of a text that a code host shows of an item on its way: `HostProgress <connection>` → `HostQuery`, `HostWait`.
 *
 * It links to the item and is not below it: nothing is stored of a text, and the item may leave while the host is asked.
 */
import type { Nanoseconds } from '../../lib/clock.ts';
import { traceIdOf, type Uuid } from '../../lib/ids.ts';
import type { Change } from '../../model/change.ts';
import type { ConnectionName } from '../../model/project.ts';
import { isExported, type QueueItem } from '../../model/queue-item.ts';
import type { SpanRecord } from '../../model/span.ts';
import type { Step } from '../../model/step.ts';
import { rootSpanOf } from '../span-ids.ts';
import { changeAttributes } from './change-attributes.ts';
import { eventTrace } from './event-context.ts';
import { itemContext } from './item-context.ts';
import { linkTo } from './links.ts';
import type { SpanOptions } from './span-options.ts';
import { spanOf } from './span-plan.ts';
import { planSteps } from './step-spans.ts';

/** One call of a driver. */
export interface HostProgressFacts {
  /** Its trace id. */
  readonly shown: Uuid;
  readonly connection: ConnectionName;
  readonly item: QueueItem;
  /** The one of the item that the text is shown at. */
  readonly change: Change;
  readonly startedAt: Nanoseconds;
  readonly endedAt: Nanoseconds;
  /** `failed`: the host refused it. `host`: it did not serve. */
  readonly outcome: 'done' | 'failed' | 'host';
  /** Undefined: the driver records none. Empty: the host was not asked, because it shows the text already. */
  readonly steps: readonly Step[] | undefined;
}

/** The root first. @returns none for an item that is not sampled, and when nothing was sent. */
export function hostProgressSpans(facts: HostProgressFacts, options: SpanOptions): readonly SpanRecord[] {
  const { connection, item, change, outcome, steps } = facts;
  if (!isExported(item) || (outcome === 'done' && steps?.length === 0)) return [];
  const window = { start: facts.startedAt, end: facts.endedAt };
  const trace = eventTrace(facts.shown, window, {}, options);
  const draft = { ...trace.draft, common: itemContext(item, options).draft.common };
  const root = spanOf({
    ...draft,
    kind: 'HostProgress',
    subject: connection,
    id: trace.root.id(),
    parent: null,
    ...window,
    result: outcome === 'done' ? 'SUCCESS' : 'ERROR',
    own: {
      ...changeAttributes([change], options),
      connection,
      reportOutcome: outcome === 'done' ? 'done' : 'failed',
      reason: outcome === 'done' ? undefined : outcome,
      linkFollows: traceIdOf(item.uuid),
    },
    links: [linkTo(rootSpanOf(item.uuid), 'follows')],
  });
  const requests = planSteps(
    { draft },
    { key: 'host', parent: trace.root, own: { connection } },
    steps ?? [],
  );
  return [root, ...requests.map(plan => plan.make())];
}
