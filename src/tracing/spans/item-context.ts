/** What all spans of one item share. */
import type { TraceId } from '../../lib/ids.ts';
import { spanIdOf, traceIdOf } from '../../lib/ids.ts';
import { type Change, changeText, commitOf } from '../../model/change.ts';
import { projectIdOf } from '../../model/project.ts';
import { endOfItem, type QueueItem } from '../../model/queue-item.ts';
import type { Attributes } from '../../model/span.ts';
import { type AttributeInput, attributesOf } from '../attribute-values.ts';
import { lasting } from '../time-window.ts';
import type { SpanOptions } from './span-options.ts';
import { once, type ParentSpan, type SpanDraft } from './span-plan.ts';

export interface ItemContext {
  readonly item: QueueItem;
  readonly options: SpanOptions;
  readonly traceId: TraceId;
  readonly root: ParentSpan;
  /** Attributes on every span of the trace, with change and repository: for the spans people search by. */
  readonly withChange: () => Attributes;
  /** Fields every draft of this trace has. */
  readonly draft: Pick<SpanDraft, 'traceId' | 'style' | 'common'>;
}

export function itemContext(item: QueueItem, options: SpanOptions): ItemContext {
  const traceId = traceIdOf(item.uuid);
  const common = attributesOf('Wait', {
    tenant: item.tenant,
    pipeline: item.pipeline,
    itemId: item.uuid,
    eventId: item.origin.event,
    cicdPipeline: item.pipeline,
    cicdRunId: item.uuid,
    cicdRunUrl: options.urls?.item(item),
  });
  return {
    item,
    options,
    traceId,
    root: lasting({ id: () => spanIdOf(item.uuid), start: item.enqueuedAt, end: endOfItem(item) }),
    draft: { traceId, style: options, common },
    withChange: once(() => attributesOf('BuildSet', vcsOf(item.changes, options), common)),
  };
}

function vcsOf(changes: QueueItem['changes'], options: SpanOptions): AttributeInput {
  const each = (pick: (change: Change) => string | null | undefined) => oneOrList(changes.map(pick));
  return {
    change: each(changeText),
    project: each(change => change.project),
    vcsRepository: each(change => projectIdOf(change.project).name),
    vcsRepositoryUrl: each(change => options.repositoryUrl?.(change.project)),
    vcsProvider: each(change => options.providers?.get(projectIdOf(change.project).connection)),
    vcsChange: each(change => (change.kind === 'change' ? change.id : undefined)),
    vcsHeadName: each(change => change.ref),
    vcsHeadRevision: each(commitOf),
    vcsHeadType: each(change => (change.ref.startsWith('refs/tags/') ? 'tag' : 'branch')),
    vcsBaseName: each(change => change.branch),
  };
}

/** One value as it is, those of a cycle of changes as a list. */
function oneOrList(values: readonly (string | null | undefined)[]): unknown {
  const known = values.filter(value => value !== null && value !== undefined);
  return known.length > 1 ? known : known[0];
}
