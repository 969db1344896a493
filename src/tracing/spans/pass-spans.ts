/**
 * The trace of a background pass that did something: `Sweep <pass>`, and below it one span per concern.
 *
 *     Sweep store
 *     ├─ Sweep delivery-ids        removed 40
 *     ├─ CacheCleanup job-graphs   removed 3
 *     └─ Sweep stale-cancels       removed 1
 */
import type { Nanoseconds } from '../../lib/clock.ts';
import { derivedSpanId, type Uuid } from '../../lib/ids.ts';
import type { JobName, PipelineName, TenantName } from '../../model/project.ts';
import type { SpanRecord, SpanReference } from '../../model/span.ts';
import type { AttributeInput } from '../attribute-values.ts';
import { eventTrace } from './event-context.ts';
import { linkTo } from './links.ts';
import type { SpanStyle } from './span-options.ts';
import { type ParentSpan, spanOf } from './span-plan.ts';

/** Recorded by `src/scheduler/care/pass-recorder.ts`, also for passes that did nothing. */
export interface PassFacts {
  /** Its trace id. */
  readonly pass: Uuid;
  /** e.g. `store`, `lost-work`. */
  readonly name: string;
  /** The tenant it was about; absent: all. */
  readonly tenant?: TenantName;
  readonly pipeline?: PipelineName;
  readonly item?: Uuid;
  /** The build it ended; its spans link to that build's. */
  readonly build?: PassBuild;
  readonly startedAt: Nanoseconds;
  readonly endedAt: Nanoseconds;
  readonly parts: readonly PassPart[];
}

interface PassBuild {
  readonly uuid: Uuid;
  readonly job: JobName;
  /** Null: its item is not traced. */
  readonly span: SpanReference | null;
}

/** One concern of the pass, with what it counted; parts with both counts 0 get no span. */
export interface PassPart {
  /** `CacheCleanup`: removed records are made again when needed. */
  readonly kind: 'Sweep' | 'CacheCleanup';
  /** e.g. `job-graphs`. */
  readonly name: string;
  readonly startedAt: Nanoseconds;
  readonly endedAt: Nanoseconds;
  /** Number of removed records. */
  readonly removed: number;
  /** Number of lost requests and builds that got a result. */
  readonly settled: number;
}

/** @returns none when nothing was done. */
export function passSpans(facts: PassFacts, style: SpanStyle): readonly SpanRecord[] {
  const parts = facts.parts.filter(({ removed, settled }) => removed + settled > 0);
  if (parts.length === 0) return [];
  const window = { start: facts.startedAt, end: facts.endedAt };
  const ids = { tenant: facts.tenant, pipeline: facts.pipeline, itemId: facts.item };
  const trace = eventTrace(facts.pass, window, ids, style);
  const about = aboutBuild(facts.build);
  const sum = (count: (part: PassPart) => number) => parts.reduce((total, part) => total + count(part), 0);
  const root = spanOf({
    ...trace.draft,
    kind: 'Sweep',
    subject: facts.name,
    id: trace.root.id(),
    parent: null,
    ...window,
    own: {
      ...about.own,
      spanSubject: facts.name,
      removedCount: sum(part => part.removed),
      settledCount: sum(part => part.settled),
    },
    links: about.links,
  });
  return [root, ...parts.map((part, index) => partSpan(trace.root, trace.draft, part, index, about))];
}

/** Attributes and link that lead to the build. */
function aboutBuild(build: PassBuild | undefined) {
  const own: AttributeInput = {
    buildId: build?.uuid,
    job: build?.job,
    linkFollows: build?.span?.traceId,
  };
  const links = build === undefined || build.span === null ? [] : [linkTo(build.span, 'follows')];
  return { own, links };
}

function partSpan(
  parent: ParentSpan,
  draft: ReturnType<typeof eventTrace>['draft'],
  { kind, name, startedAt, endedAt, removed, settled }: PassPart,
  index: number,
  about: ReturnType<typeof aboutBuild>,
): SpanRecord {
  return spanOf({
    ...draft,
    kind,
    subject: name,
    id: derivedSpanId(parent.id(), `${kind} ${name}`, index),
    parent,
    start: startedAt,
    end: endedAt,
    own: {
      ...about.own,
      spanSubject: name,
      removedCount: removed,
      settledCount: settled === 0 ? undefined : settled,
    },
    links: about.links,
  });
}
