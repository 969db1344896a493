/** What operators keep from going on, with the reason: part of the documents of pipelines. */
import { toMilliseconds } from '../lib/clock.ts';
import { HALT_MODES } from '../model/halt.ts';
import type { PipelineState } from '../model/pipeline-state.ts';
import { type Document, document, list, milliseconds, nullable, oneOf, text } from './schema.ts';

/** Of one pipeline. */
export const haltsSchema = list(
  document({
    queue: nullable(text(), 'Null: the whole pipeline'),
    mode: oneOf(HALT_MODES, 'pause: no jobs start; drain: nothing enters'),
    reason: text(),
    by: text('Who asked'),
    since: milliseconds(),
  }),
  'What operators paused or drained; mostly empty',
);

/** Encodes them. */
export function haltsDocument({ halts = [] }: Pick<PipelineState, 'halts'>): Document<typeof haltsSchema> {
  return halts.map(halt => ({ ...halt, since: toMilliseconds(halt.since) }));
}
