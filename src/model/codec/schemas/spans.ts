/** Spans, the steps that become spans, and references to spans. */
import type { Attributes, AttributeValue, SpanLink, SpanRecord, SpanReference } from '../../span.ts';
import type { Step, StepKind } from '../../step.ts';
import {
  byName,
  fact,
  list,
  mark,
  nullable,
  object,
  optional,
  recursive,
  type Schema,
  spanId,
  tagged,
  text,
  time,
  traceId,
  whole,
  words,
} from '../schema.ts';

const listOf = (type: 'string' | 'number' | 'boolean') => ({ type: 'array', items: { type } }) as const;

const attributeValue: Schema<AttributeValue> = {
  node: {
    anyOf: [
      { type: 'string' },
      { type: 'number' },
      { type: 'boolean' },
      listOf('string'),
      listOf('number'),
      listOf('boolean'),
    ],
    description: 'the value of an attribute',
  },
};

const attributes: Schema<Attributes> = byName(attributeValue);

/** {@link SpanReference} */
export const spanReferenceSchema = object<SpanReference>({ traceId, spanId });

const spanSchema = object<SpanRecord>({
  traceId,
  spanId,
  parent: nullable(spanId),
  name: text,
  kind: words<SpanRecord['kind']>({ internal: 1, server: 1, client: 1, producer: 1, consumer: 1 }),
  start: time,
  end: nullable(time),
  attributes,
  events: list(object<SpanRecord['events'][number]>({ at: time, name: text, attributes })),
  links: list(object<SpanLink>({ traceId, spanId, attributes })),
  traceState: optional(text),
  resource: optional(attributes),
  scope: optional(text),
  dropped: optional(
    object<NonNullable<SpanRecord['dropped']>>({ attributes: whole, events: whole, links: whole }),
  ),
  status: tagged<SpanRecord['status'], 'code'>('code', { unset: {}, ok: {}, error: { message: text } }),
});

/** A list of {@link SpanRecord}, the record `spans`. */
export const spansSchema: Schema<readonly SpanRecord[]> = list(spanSchema);

const stepKind = words<StepKind>({
  FetchRefs: 1,
  MergeChanges: 1,
  ReadConfig: 1,
  BuildRepoCheck: 1,
  BuildRepoAccess: 1,
  BuildRepoUpdateLock: 1,
  BuildRepoUpdate: 1,
  BuildCloneRepo: 1,
  BuildMergeChanges: 1,
  BuildCheckoutSize: 1,
  BuildSetRepoState: 1,
  BuildCheckout: 1,
  JobSetup: 1,
  Playbook: 1,
  SemaphoreWait: 1,
  Pause: 1,
  Cleanup: 1,
  AnsiblePlay: 1,
  AnsibleTask: 1,
  ScriptStep: 1,
  TestSuite: 1,
  TestCase: 1,
  TestResults: 1,
  HostQuery: 1,
  HostWait: 1,
});

const stepSchema = recursive<Step>('Step', self =>
  object<Step>({
    kind: stepKind,
    subject: text,
    startedAt: time,
    endedAt: time,
    result: optional(
      words<NonNullable<Step['result']>>({ SUCCESS: 1, FAILURE: 1, TIMED_OUT: 1, ABORTED: 1 }),
    ),
    key: optional(text),
    continued: optional(mark),
    steps: optional(list(self)),
    facts: optional(byName(fact)),
  }),
);

/** A list of {@link Step}. */
export const stepsSchema: Schema<readonly Step[]> = list(stepSchema);
