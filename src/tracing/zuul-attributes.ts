/**
 * Zuul's own attributes, beside ours, for `[tracing] span_names = zuul`: a search saved against a Zuul (`zuul_tenant=acme`,
 * `job=unit`, `ref_number=5`) finds our spans, too.
 *
 * As a Zuul 14.3 sends them: texts without a prefix, lists for what an item of several changes has once per change. Spans that
 * Zuul gives no attributes (`BuildSet`, `BuildSetRepoState`, `BuildMergeChanges`, ...) get none here.
 */
import { type Change, commitOf } from '../model/change.ts';
import { projectIdOf } from '../model/project.ts';
import type { Attributes } from '../model/span.ts';
import type { SpanKind } from './allowed-attributes.ts';
import { ATTRIBUTE, type AttributeKey } from './attributes.ts';

/** Zuul's name → ours, on the wire, whose value it has. */
const SAME_VALUE: ReadonlyMap<SpanKind, readonly (readonly [zuul: string, ours: AttributeKey])[]> = new Map<
  SpanKind,
  readonly (readonly [zuul: string, ours: AttributeKey])[]
>([
  [
    'QueueItem',
    [
      ['zuul_event_id', 'eventId'],
      ['zuul_tenant', 'tenant'],
      ['zuul_pipeline', 'pipeline'],
    ],
  ],
  ['ConnectionEvent', [['zuul_event_id', 'eventId']]],
  ['InternalEvent', [['event_type', 'eventType']]],
  [
    'Merge',
    [
      ['buildset_uuid', 'buildsetId'],
      ['zuul_event_id', 'eventId'],
    ],
  ],
  [
    'RepoState',
    [
      ['buildset_uuid', 'buildsetId'],
      ['zuul_event_id', 'eventId'],
    ],
  ],
  ['MergerJob', [['merger', 'worker']]],
  [
    'Build',
    [
      ['uuid', 'buildId'],
      ['job', 'job'],
      ['buildset_uuid', 'buildsetId'],
      ['zuul_event_id', 'eventId'],
    ],
  ],
  ['JobExecution', [['hostname', 'worker']]],
]);

/** Steps that Zuul marks with the repository they work on. */
const OF_REPOSITORY: ReadonlySet<SpanKind> = new Set([
  'BuildRepoUpdateLock',
  'BuildRepoUpdate',
  'BuildCloneRepo',
  'BuildCheckout',
]);

/** @param ours the span's own attributes, by their names on the wire. */
export function zuulAttributes(kind: SpanKind, ours: Attributes): Attributes {
  const own = Object.fromEntries(
    (SAME_VALUE.get(kind) ?? []).flatMap(([zuul, key]) => {
      const value = ours[ATTRIBUTE[key]];
      return value === undefined ? [] : [[zuul, value]];
    }),
  );
  const project = ours[ATTRIBUTE.project];
  if (!OF_REPOSITORY.has(kind) || typeof project !== 'string') return own;
  const connection = ours[ATTRIBUTE.connection];
  return {
    ...own,
    ...(connection === undefined ? {} : { connection }),
    // A step knows its repository by the canonical name; Zuul leaves the host away.
    project: project.slice(project.indexOf('/') + 1),
  };
}

/** Zuul's safe attributes of each change of an item, as `ref_<name>`, one value per change that has it. */
export function zuulRefs(changes: readonly Change[]): Attributes {
  const lists: { [name: string]: string[] } = {};
  for (const change of changes) {
    const project = projectIdOf(change.project).name;
    const facts =
      change.kind === 'change'
        ? { project, number: change.id, patchset: change.patchset }
        : { project, ref: change.ref, oldrev: change.oldCommit, newrev: commitOf(change) };
    for (const [name, value] of Object.entries(facts))
      if (value !== null) lists[`ref_${name}`] = [...(lists[`ref_${name}`] ?? []), value];
  }
  return lists;
}
