/**
 * `Reconfigure` → `MergerJob` per project read → `FetchRefs`, `ReadConfig`: a tenant got a new layout.
 *
 * Below the event that caused it; a trace of its own when a scheduler started with the tenant and its layout differed from the stored
 * one (another tenant file, files that were missing).
 */
import type { Nanoseconds } from '../../lib/clock.ts';
import { derivedSpanId, type Uuid } from '../../lib/ids.ts';
import { between, clampInto, lasting } from '../../lib/time-window.ts';
import type { ProjectKey, TenantName } from '../../model/project.ts';
import type { SpanRecord } from '../../model/span.ts';
import type { Step } from '../../model/step.ts';
import { type EventTrace, eventTrace } from './event-context.ts';
import type { SpanStyle } from './span-options.ts';
import { type ParentSpan, spanOf } from './span-plan.ts';
import { clampedParent, planSteps } from './step-spans.ts';
import { workerAttributes } from './worker-attributes.ts';

/** One reconfiguration, as the scheduler that holds the tenant recorded it. */
export interface LayoutRenewal {
  readonly startedAt: Nanoseconds;
  readonly endedAt: Nanoseconds;
  /** Of the new layout. */
  readonly version: number;
  /** Number of errors in the configuration. */
  readonly errors: number;
  /** Reads requested from mergers. */
  readonly reads: readonly ConfigRead[];
}

/** A project's configuration as a merger read it. */
export interface ConfigRead {
  readonly project: ProjectKey;
  readonly askedAt: Nanoseconds;
  readonly answeredAt: Nanoseconds;
  readonly worker: string;
  readonly steps: readonly Step[];
}

/** Maximum number of projects named on one span. */
const MOST_PROJECTS = 64;
/** Maximum number of reads with spans, longest first: a large tenant's first start has thousands, all in one commit. */
const MOST_READS = 100;

/** @param parent null: `Reconfigure` is the root of `trace`. */
export function reconfigureSpans(
  trace: EventTrace,
  parent: ParentSpan | null,
  renewal: LayoutRenewal,
  reason: string,
): readonly SpanRecord[] {
  const { startedAt: start, endedAt: end, version, errors, reads } = renewal;
  const id = parent === null ? trace.root.id() : derivedSpanId(parent.id(), 'Reconfigure', 0);
  const place = {
    id: () => id,
    ...(parent === null ? lasting({ start, end }) : clampInto(parent, start, end)),
  };
  const span = spanOf({
    ...trace.draft,
    kind: 'Reconfigure',
    id,
    parent,
    start,
    end,
    own: {
      layoutVersion: version,
      reason,
      errors,
      project: reads.slice(0, MOST_PROJECTS).map(({ project }) => project),
    },
  });
  return [span, ...longest(reads).flatMap((read, index) => readSpans(trace, place, read, index))];
}

/** Why a scheduler made a new layout when it started with a tenant. */
export interface LayoutRebuild {
  readonly pass: Uuid;
  readonly tenant: TenantName;
  readonly reason: 'first-layout' | 'tenant-file-changed' | 'files-missing';
}

/** A trace of its own, with `pass` as its id. The caller samples. */
export function takeoverSpans(
  { pass, tenant, reason }: LayoutRebuild,
  renewal: LayoutRenewal,
  style: SpanStyle,
): readonly SpanRecord[] {
  const window = { start: renewal.startedAt, end: renewal.endedAt };
  return reconfigureSpans(eventTrace(pass, window, { tenant }, style), null, renewal, reason);
}

function longest(reads: readonly ConfigRead[]): readonly ConfigRead[] {
  if (reads.length <= MOST_READS) return reads;
  const length = ({ askedAt, answeredAt }: ConfigRead) => BigInt(between(askedAt, answeredAt));
  return reads.toSorted((a, b) => (length(a) < length(b) ? 1 : -1)).slice(0, MOST_READS);
}

function readSpans(
  trace: EventTrace,
  parent: ParentSpan,
  { project, askedAt, answeredAt, worker, steps }: ConfigRead,
  index: number,
): readonly SpanRecord[] {
  const id = derivedSpanId(parent.id(), `MergerJob ${project}`, index);
  const place = clampedParent(() => id, parent, { start: askedAt, end: answeredAt });
  const job = spanOf({
    ...trace.draft,
    kind: 'MergerJob',
    subject: project,
    id,
    parent,
    start: askedAt,
    end: answeredAt,
    own: { ...workerAttributes(worker), project },
  });
  const below = planSteps(
    trace,
    { key: project, parent: place, own: { ...workerAttributes(worker), project } },
    steps,
  );
  return [job, ...below.map(plan => plan.make())];
}
