/**
 * `trigger: {zuul: [{event: parent-change-enqueued, pipeline: check}]}`: the connection `zuul` is always there and needs no section. Its
 * events are about what Gatehouse itself did.
 *
 * What the parser returns parses to itself, so the stored form is read by the same function.
 */
import type { ParseResult } from '../../driver/parse-result.ts';
import { compilePattern, type Pattern } from '../../driver/pattern.ts';
import { isMapping, parsedBefore, readMapping } from '../../driver/read-mapping.ts';
import type { InternalEvent, InternalEventType } from '../../model/internal-event.ts';
import type { Json } from '../../model/job.ts';
import type { Pipeline } from '../../model/pipeline.ts';

/** The name by which pipelines know it, and of the driver in events. */
export const ZUUL = 'zuul';

type ZuulTrigger = {
  readonly event: readonly string[];
  /** Names of pipelines, from their start; one must match. Empty: any. */
  readonly pipeline: readonly Pattern[];
};

const TYPES = ['project-change-merged', 'parent-change-enqueued'] as const satisfies InternalEventType[];
/** Of Zuul's image launcher, which has no counterpart here. */
const IMAGE_TYPES = ['image-build', 'image-validate', 'image-delete'] as const;

export function parseZuulTrigger(value: Json): ParseResult<ZuulTrigger> {
  const mapping = readMapping(value, ['event', 'pipeline'], 'a zuul trigger');
  const event = mapping.choices('event', [...TYPES, ...IMAGE_TYPES]);
  const pipeline = mapping.patterns('pipeline');
  const isWritten = isMapping(value) && value.event !== undefined;
  if (!isWritten || (Array.isArray(value.event) && value.event.length === 0))
    mapping.refuse([], 'missing-key', `a zuul trigger needs "event": one of ${TYPES.join(', ')}`);
  for (const type of IMAGE_TYPES)
    if (event.includes(type))
      mapping.warn(['event'], 'no-effect', `${type}: no images are built here, so this event never comes`);
  if (pipeline.length > 0 && event.length > 0 && !event.includes('parent-change-enqueued'))
    mapping.refuse(
      ['pipeline'],
      'wrong-event',
      '"pipeline" goes with the event parent-change-enqueued: it is where the other change was enqueued',
    );
  return mapping.result({ event, pipeline });
}

/** The trigger that takes the event, in one clause; undefined: the pipeline does not start because of it. */
export function takesInternal(
  { triggers }: Pick<Pipeline, 'triggers'>,
  { type, pipeline }: Pick<InternalEvent, 'type' | 'pipeline'>,
): string | undefined {
  for (const { connection, config } of triggers) {
    if (connection !== ZUUL) continue;
    const trigger = parsedBefore(parseZuulTrigger(config));
    if (!trigger.event.includes(type)) continue;
    if (type === 'project-change-merged' || trigger.pipeline.length === 0) return `event ${type}`;
    const found = trigger.pipeline
      .map(each => compilePattern(each, 'match'))
      .find(each => each.takes(pipeline));
    if (found !== undefined) return `event ${type}, pipeline ${pipeline} matches ${found.text}`;
  }
  return undefined;
}
