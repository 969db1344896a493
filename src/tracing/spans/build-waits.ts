/**
 * The spans of what a build waits for before an executor works on it, below its `Build` (`build-spans.ts`):
 *
 *     RequestNodes      of one that runs on nodes: requested → granted, or made; again after they were given back
 *     ExecutorQueue     requested, or granted its hosts → taken
 */
import type { Nanoseconds } from '../../lib/clock.ts';
import { derivedSpanId } from '../../lib/ids.ts';
import { type Build, startOfBuild } from '../../model/build.ts';
import { nodesSince } from '../../model/node-wait.ts';
import type { SpanRecord } from '../../model/span.ts';
import { type AttributeInput, eventAttributes } from '../attribute-values.ts';
import type { ItemContext } from './item-context.ts';
import { type ParentSpan, type SpanPlan, spanOf } from './span-plan.ts';

/** What the spans of a build's waits share. */
interface WaitOfBuild {
  readonly context: ItemContext;
  readonly parent: ParentSpan;
  readonly build: Build;
  readonly own: AttributeInput;
}

/** What is known of the whole build. */
interface WholeBuild {
  /** Of the executors, or of the nodes. Undefined: not known any more. */
  readonly labels: readonly string[] | undefined;
  /** Undefined: it is open. */
  readonly result: string | undefined;
}

/** Each begins where the one before ended. */
export function planWaitsOfBuild(place: WaitOfBuild, { labels, result }: WholeBuild): readonly SpanPlan[] {
  const { nodes, requestedAt } = place.build;
  const own = { ...place.own, priority: place.build.priority };
  const labelled = { ...place, own: { ...own, labels } };
  const taken = startOfBuild(place.build);
  if (nodes === undefined) return [planQueue(labelled, { start: requestedAt, taken }, 0)];
  return nodes.waits.flatMap((wait, index) => {
    const { returned } = wait;
    const ready = nodesSince(wait);
    const time =
      ready === undefined
        ? undefined
        : { start: ready, taken: returned === undefined ? taken : null, returned };
    return [
      planNodes(labelled, { wait, result }, index),
      ...(time === undefined ? [] : [planQueue({ ...place, own }, time, index)]),
    ];
  });
}

type NodeWait = NonNullable<Build['nodes']>['waits'][number];

function planNodes(
  { context, parent, build, own }: WaitOfBuild,
  { wait, result }: { readonly wait: NodeWait; readonly result: string | undefined },
  index: number,
): SpanPlan {
  const { since, granted, returned } = wait;
  const ready = nodesSince(wait);
  const end = ready ?? returned?.at ?? parent.end;
  return {
    key: `${build.uuid}/nodes/${index}`,
    end,
    make: () =>
      spanOf({
        ...context.draft,
        kind: 'RequestNodes',
        subject: build.job,
        id: derivedSpanId(parent.id(), 'RequestNodes', index),
        parent,
        start: since,
        end,
        result: ready === undefined ? (returned === undefined ? result : 'FAILURE') : 'SUCCESS',
        detail: ready === undefined ? returned?.reason : undefined,
        own: {
          ...own,
          nodeProvider: granted?.making === true ? 'kubernetes' : 'static',
          nodeHosts: granted?.hosts,
        },
        events: makingEvents(wait),
      }),
  };
}

/** How the nodes that were made for it came to be. */
function makingEvents({ granted, made }: NodeWait): SpanRecord['events'] {
  if (granted === null || granted.making === undefined) return [];
  const given = { name: 'nodes-granted', at: granted.at, attributes: eventAttributes({}) };
  const ofNodes = (made?.nodes ?? []).flatMap(({ name, machine, createdAt, scheduledAt, readyAt }) => {
    const attributes = eventAttributes({ node: name, machine });
    return [
      { name: 'node-created', at: createdAt, attributes: eventAttributes({ node: name }) },
      { name: 'node-scheduled', at: scheduledAt, attributes },
      { name: 'node-ready', at: readyAt, attributes },
    ];
  });
  return [given, ...ofNodes];
}

/** `taken` null: no executor did, or the one that did has given the hosts back. */
interface TimeInQueue {
  readonly start: Nanoseconds;
  readonly taken: Nanoseconds | null;
  readonly returned?: NodeWait['returned'] | undefined;
}

function planQueue(
  { context, parent, build, own }: WaitOfBuild,
  { start, taken, returned }: TimeInQueue,
  index: number,
): SpanPlan {
  const end = returned?.at ?? taken ?? parent.end;
  const ended = returned === undefined ? 'not-taken' : 'handed-back';
  return {
    key: index === 0 ? `${build.uuid}/queue` : `${build.uuid}/queue/${index}`,
    end,
    make: () =>
      spanOf({
        ...context.draft,
        kind: 'ExecutorQueue',
        id: derivedSpanId(parent.id(), 'ExecutorQueue', index),
        parent,
        start,
        end,
        own: {
          ...own,
          executorQueueOutcome: end === null ? undefined : taken === null ? ended : 'taken',
          detail: returned?.reason,
        },
      }),
  };
}
