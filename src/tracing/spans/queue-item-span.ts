/** `QueueItem`: the root of an item's trace, from enqueue to dequeue. */
import { spanIdOf } from '../../lib/ids.ts';
import { leaveText } from '../../model/cause.ts';
import { lostBuildSeconds } from '../../model/lost-time.ts';
import type { QueueItem } from '../../model/queue-item.ts';
import { type AttributeInput, eventAttributes } from '../attribute-values.ts';
import { rootSpanOf } from '../span-ids.ts';
import { cicdResultOf } from '../status.ts';
import { zuulRefs } from '../zuul-attributes.ts';
import type { ItemContext } from './item-context.ts';
import { linkTo, removerAttributes, removerLinks } from './links.ts';
import { type SpanPlan, spanOf } from './span-plan.ts';
import { takeoverCount } from './takeover-spans.ts';
import { testedBases } from './tested-bases.ts';

/** The only span with the item's events. Outcome, resets and takeovers are attributes only when it has left. */
export function planQueueItem(context: ItemContext): SpanPlan {
  const { item, root } = context;
  return {
    key: 'item',
    end: root.end,
    make: () =>
      spanOf({
        ...context.draft,
        kind: 'QueueItem',
        subject: item.pipeline,
        id: spanIdOf(item.uuid),
        parent: null,
        start: root.start,
        end: root.end,
        result: item.phase.phase === 'left' ? item.phase.result : undefined,
        common: context.withChange(),
        own: ownAttributes(context),
        zuul: () => zuulRefs(item.changes),
        events: item.events.map(event => ({
          at: event.at,
          name: event.name,
          attributes: eventAttributes(event.facts),
        })),
        links: [
          linkTo(item.origin.tenantSpan, 'follows'),
          ...removerLinks(item.phase.phase === 'left' ? item.phase.remover : undefined),
          ...(item.neededItems ?? []).map(needed => linkTo(rootSpanOf(needed), 'depends_on')),
        ],
      }),
  };
}

function ownAttributes({ item }: ItemContext): AttributeInput {
  return {
    queue: item.queue,
    position: item.position,
    role: item.role,
    connection: item.origin.connection,
    eventType: item.origin.eventType,
    dependsOn: item.dependsOn,
    linkFollows: item.origin.tenantSpan.traceId,
    linkDependsOn: item.neededItems,
    cicdAction: 'RUN',
    ...outcome(item),
  };
}

function outcome(item: QueueItem): AttributeInput {
  if (item.phase.phase !== 'left') return {};
  return {
    vcsBaseRevision: testedBases(item),
    leaveCode: item.phase.reason,
    leaveText: leaveText(item.phase.reason),
    ...removerAttributes(item.phase.remover),
    resets: item.earlier.length,
    takeovers: takeoverCount(item),
    lostBuildSeconds: lostBuildSeconds(item),
    cicdResult: cicdResultOf(item.phase.result),
  };
}
