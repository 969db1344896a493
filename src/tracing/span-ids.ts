/**
 * Trace and span ids, derived from uuids and names.
 *
 *     item uuid 5b8e...        → trace id, and its first 16 digits the root span's id
 *     buildset, build, request, report uuid → span id (first 16 digits)
 *     `JobExecution`, a wait, a step        → SHA-256(parent span id / name / ordinal), first 16 digits
 */
import { derivedSpanId, type SpanId, spanIdOf, type TraceId, traceIdOf, type Uuid } from '../lib/ids.ts';
import type { BuildTrace } from '../model/build-request.ts';
import type { SpanReference } from '../model/span.ts';
import type { StepKind } from '../model/step.ts';

/** The root span of the trace that belongs to an item or an event. */
export function rootSpanOf(uuid: Uuid): SpanReference {
  return { traceId: traceIdOf(uuid), spanId: spanIdOf(uuid) };
}

/** The same in the item's trace and, as the root, in a long job's own. @param build id of the `Build` span. */
export function jobExecutionSpanId(build: SpanId): SpanId {
  return derivedSpanId(build, 'JobExecution', 0);
}

/** @param ordinal how many steps of the same kind and subject came before below the same parent. */
export function stepSpanId(parent: SpanId, kind: StepKind, subject: string, ordinal: number): SpanId {
  return derivedSpanId(parent, `${kind} ${subject}`, ordinal);
}

/** The id of a step with a key of its own (`Step.key`): it can be computed from the parent's id and the key before the step starts. */
export function keyedStepSpanId(parent: SpanId, key: string): SpanId {
  return derivedSpanId(parent, `step ${key}`, 0);
}

/**
 * The trace a build's own work is in, when it is not the item's: that of a job expected to run long (its JobExecution is the
 * root), or the continuation of one that ran over unexpectedly (`continuationSpanId` is the root).
 */
export function ownTraceOf(build: Uuid): TraceId {
  return traceIdOf(build);
}

/** Root of the continuation trace of a build, see `Execution.continuedAt`. */
export function continuationSpanId(build: SpanId): SpanId {
  return derivedSpanId(jobExecutionSpanId(build), 'continuation', 0);
}

/** @returns the `Build` of a request; null: its item is not traced. */
export function buildSpanOf({ trace }: { readonly trace: BuildTrace | null }): SpanReference | null {
  return trace?.sampled === true ? { traceId: trace.traceId, spanId: trace.buildSpan } : null;
}

/**
 * The span that a playbook's process gets as TRACEPARENT, known before it starts; the span made later from its step has the same
 * id.
 *
 * @param trace from the build's request.
 */
export function playbookSpan(build: Uuid, trace: BuildTrace, playbook: PlaybookPlace): SpanReference {
  const { subject, ordinal, continued } = playbook;
  const traceId = trace.own === true || continued ? ownTraceOf(build) : trace.traceId;
  if (!continued) return { traceId, spanId: playbookSpanId(trace.buildSpan, subject, ordinal) };
  return { traceId, spanId: stepSpanId(continuationSpanId(trace.buildSpan), 'Playbook', subject, ordinal) };
}

/** Place of a playbook among those of its build: known before it starts, and the same as that of the step recorded when it has ended. */
export interface PlaybookPlace {
  /** Exactly the step's `subject`, e.g. `run/test.sh`. */
  readonly subject: string;
  /** How many playbooks with this subject ran before in this build, or in its continuation. */
  readonly ordinal: number;
  /** It belongs to the build's continuation trace. */
  readonly continued: boolean;
}

/**
 * The id of a playbook's span that is not in a continuation.
 *
 * @param subject exactly the step's `subject`, e.g. `run/test.sh`.
 * @param ordinal how many playbooks with this subject ran before in this build.
 */
export function playbookSpanId(build: SpanId, subject: string, ordinal: number): SpanId {
  return stepSpanId(jobExecutionSpanId(build), 'Playbook', subject, ordinal);
}
