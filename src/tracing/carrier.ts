/**
 * The trace context of a job's process as environment variables (W3C trace context and baggage).
 *
 *     TRACEPARENT=00-5b8e2d...-9f1c...-01          its playbook's span; flags 00 when the item is not sampled
 *     TRACESTATE=ot=rv:6e6d1a75832a2f              the number drawn for its event, see sampling.ts
 *     BAGGAGE=gatehouse.tenant=acme,gatehouse.item.id=5b8e2d...
 *     OTEL_SERVICE_NAME=unit-tests
 *
 * Baggage holds names only, no secrets: it travels to every service the job calls.
 */
import type { SpanId, TraceId } from '../lib/ids.ts';
import type { SpanReference } from '../model/span.ts';
import { ATTRIBUTE } from './attributes.ts';

/** The complete content of the baggage. */
interface Baggage {
  readonly tenant: string;
  readonly pipeline: string;
  readonly item: string;
  readonly buildset: string;
  readonly build: string;
  readonly job: string;
}

/** What a playbook's process inherits: from its build request and the place of the playbook, before the process starts. */
export interface CarrierFacts {
  readonly traceId: TraceId;
  /** The span the process is part of: `playbookSpan` of span-ids.ts. */
  readonly spanId: SpanId;
  /** Of the item; a sampler in the job reads it from the flags of TRACEPARENT. */
  readonly sampled: boolean;
  /** Absent: none. */
  readonly traceState?: string;
  readonly baggage: Baggage;
}

/** Named like the attributes with the same values: a baggage span processor in a job adds no other names. */
const BAGGAGE_NAMES: readonly (readonly [keyof Baggage, string])[] = [
  ['tenant', ATTRIBUTE.tenant],
  ['pipeline', ATTRIBUTE.pipeline],
  ['item', ATTRIBUTE.itemId],
  ['buildset', ATTRIBUTE.buildsetId],
  ['build', ATTRIBUTE.buildId],
  ['job', ATTRIBUTE.job],
];

/** `00-<trace>-<span>-01`; the last flag is whether the trace is recorded. */
export function traceparent(span: SpanReference, sampled: boolean): string {
  return `00-${span.traceId}-${span.spanId}-${sampled ? '01' : '00'}`;
}

function baggageText(baggage: Baggage): string {
  return BAGGAGE_NAMES.map(
    ([key, name]) => `${name}=${encodeURIComponent(baggage[key].toWellFormed())}`,
  ).join(',');
}

/**
 * Variables to add to the environment of a playbook's process. Without trace state TRACESTATE is set empty, which counts as
 * unset, so that the executor's own does not leak in. `OTEL_SERVICE_NAME` is a default: a job that sets its own keeps it.
 */
export function jobEnvironment(facts: CarrierFacts): { readonly [name: string]: string } {
  const { baggage } = facts;
  const resource: readonly (readonly [string, string])[] = [
    ['cicd.pipeline.name', baggage.pipeline],
    ['cicd.pipeline.run.id', baggage.item],
    ['cicd.pipeline.task.name', baggage.job],
    ['cicd.pipeline.task.run.id', baggage.build],
    ['gatehouse.tenant', baggage.tenant],
  ];
  return {
    TRACEPARENT: traceparent(facts, facts.sampled),
    TRACESTATE: facts.traceState ?? '',
    BAGGAGE: baggageText(baggage),
    OTEL_SERVICE_NAME: baggage.job,
    OTEL_RESOURCE_ATTRIBUTES: resource
      .map(([name, value]) => `${name}=${encodeURIComponent(value.toWellFormed())}`)
      .join(','),
  };
}
