/**
 * Schema of `…/item/<uuid>/compare`. The document is the comparison itself (`src/explain/compare-items.ts`): the compiler checks that its
 * type fits this schema.
 */
import type { Comparison } from '../explain/compare-items.ts';
import { stateName } from './explanation.ts';
import {
  type Document,
  document,
  flag,
  list,
  milliseconds,
  nanoseconds,
  nullable,
  oneOf,
  optional,
  text,
  uuid,
  whole,
} from './schema.ts';

const comparedItem = document({
  item: uuid(),
  changes: list(text('For people')),
  enqueuedAt: nanoseconds('Nanoseconds since the epoch'),
  until: nanoseconds('When it left, or the time of the request'),
  ms: milliseconds('From the one to the other'),
  result: nullable(text(), 'Null: still in its pipeline'),
  resets: whole('Times it was tested again'),
});

/** `GET …/item/<uuid>/compare`. */
export const comparisonSchema = document({
  item: comparedItem,
  other: nullable(comparedItem, 'Null: none of its project and branch has passed there lately'),
  usualOf: whole('How many items say what is usual'),
  phases: list(
    document({
      level: oneOf(
        ['state', 'job', 'part', 'task'],
        'A state of the item, a job, and in it its parts and tasks',
      ),
      state: optional(stateName()),
      job: optional(text()),
      name: optional(text('For people; of a part or task')),
      ms: milliseconds(),
      other: nullable(milliseconds(), 'Null: the other has no such phase'),
      usual: nullable(
        document({ p50: milliseconds(), p95: milliseconds(), items: whole() }),
        'Null: too few items have it',
      ),
      slower: flag('Longer than in 19 of 20 items, or half as long again as in the other'),
    }),
    'States, longest first; then jobs, longest first, each with its parts and the tasks that took longer',
  ),
});
/** What the page reads. */
export type ComparisonDocument = Document<typeof comparisonSchema>;

/** Identity; compiles only if the type fits the schema. */
export function comparisonDocument(comparison: Comparison): ComparisonDocument {
  return comparison;
}
