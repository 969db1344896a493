/** Links between spans, each with its relation, and as an attribute for backends that do not show links. */
import { type SpanId, spanIdOf, traceIdOf } from '../../lib/ids.ts';
import type { CancelCause, Culprit, Remover, ResetCause } from '../../model/cause.ts';
import type { SpanLink, SpanRecord, SpanReference } from '../../model/span.ts';
import type { AttributeInput } from '../attribute-values.ts';
import { ATTRIBUTE } from '../attributes.ts';

/** How the linking span relates to the linked one. */
export type Relation =
  | 'follows'
  | 'previous'
  | 'caused_by'
  | 'retry_of'
  | 'tested_before'
  | 'depends_on'
  | 'continues_in'
  | 'continued_from'
  | 'caller';

/** The relation is the link's only attribute, `gatehouse.link.relation`. */
export function linkTo(target: SpanReference, relation: Relation): SpanLink {
  return { ...target, attributes: { [ATTRIBUTE.linkRelation]: relation } };
}

/** The span of the item's trace that the root of a build's own trace continues. */
export function continuedSpan({ links }: Pick<SpanRecord, 'links'>): SpanId | null {
  const from: Relation = 'continued_from';
  return links.find(link => link.attributes[ATTRIBUTE.linkRelation] === from)?.spanId ?? null;
}

/** The culprit's build, else its buildset, else the root of its item. */
function culpritSpan(culprit: Culprit): SpanReference {
  return {
    traceId: traceIdOf(culprit.item),
    spanId: spanIdOf(culprit.build ?? culprit.buildset ?? culprit.item),
  };
}

/** Link to the culprit, when known. */
export function causeLinks(cause: ResetCause | CancelCause | null): readonly SpanLink[] {
  if (cause === null) return [];
  if (cause.culprit !== null) return [linkTo(culpritSpan(cause.culprit), 'caused_by')];
  return removerLinks(initiatorOf(cause));
}

/** Link to the initiator of a removal, when known and sampled. */
export function removerLinks(remover: Remover | undefined): readonly SpanLink[] {
  return remover === undefined || remover.span === null ? [] : [linkTo(remover.span, 'caused_by')];
}

/** Initiator of a removal. */
export function removerAttributes(remover: Remover | undefined): AttributeInput {
  return {
    initiatorType: remover?.kind,
    initiatorName: remover?.name,
    linkCausedBy: remover?.span?.traceId,
  };
}

/** Cause and culprit. */
export function causeAttributes(
  cause: ResetCause | CancelCause | null,
  text: string | undefined,
): AttributeInput {
  if (cause === null) return {};
  const { culprit } = cause;
  return {
    causeCode: cause.code,
    causeText: text,
    culpritItem: culprit?.item,
    culpritChange: culprit?.change,
    culpritBuild: culprit?.build,
    culpritJob: culprit?.job,
    culpritResult: culprit?.result,
    linkCausedBy: culprit?.item,
    ...initiatorAttributes(cause),
  };
}

function initiatorOf(cause: ResetCause | CancelCause): Remover | undefined {
  if ('promoter' in cause) return cause.promoter;
  return 'remover' in cause ? cause.remover : undefined;
}

/** The link to the item that was moved past this one goes before the link to the request. */
function initiatorAttributes(cause: ResetCause | CancelCause): AttributeInput {
  const initiator = initiatorOf(cause);
  if (initiator === undefined) return {};
  const { linkCausedBy, ...who } = removerAttributes(initiator);
  return cause.culprit === null ? { ...who, linkCausedBy } : who;
}
