/**
 * Schema of `…/item/<uuid>/explain`. The document is the explanation itself (`src/explain/explain.ts`): the compiler checks that
 * its type fits this schema.
 */
import type { Explanation } from '../explain/explain.ts';
import { STRETCH_STATES } from '../model/item-states.ts';
import {
  type Document,
  document,
  flag,
  list,
  nanoseconds,
  nullable,
  number,
  oneOf,
  optional,
  text,
  uuid,
  whole,
} from './schema.ts';
import { elsewhereSchema, runsSchema } from './tests.ts';
import { withheldSchema } from './withheld-schema.ts';

/** Name of a state of an item. */
export const stateName = () => oneOf(STRETCH_STATES);
/** Whether a state is a wait or work. */
export const kind = () => oneOf(['wait', 'work']);
const at = () => nanoseconds('Nanoseconds since the epoch');
const culpritSchema = document({
  item: uuid(),
  change: text('For people'),
  buildset: optional(uuid()),
  build: optional(uuid()),
  job: optional(text()),
  result: optional(text()),
  left: optional(text('Code')),
});

/** `GET …/item/<uuid>/explain`; durations and times in nanoseconds. */
export const explanationSchema = document({
  item: uuid(),
  tenant: text(),
  pipeline: text(),
  changes: list(text('For people')),
  enqueuedAt: at(),
  until: nanoseconds('When it left, or the time of the request'),
  duration: nanoseconds(),
  ended: nullable(document({ reason: text('Code'), text: text(), result: text() })),
  withheld: withheldSchema(),
  stretches: list(
    document({
      state: stateName(),
      kind: kind(),
      subject: optional(text('Subject of a wait')),
      whom: optional(uuid('The item it waited for')),
      from: at(),
      to: at(),
      duration: nanoseconds(),
    }),
    'Its states in order, without gaps',
  ),
  totals: list(
    document({ state: stateName(), kind: kind(), duration: nanoseconds(), share: number('0 to 1') }),
    'Longest first',
  ),
  waitedFor: list(
    document({
      item: uuid(),
      change: text(),
      state: stateName(),
      duration: nanoseconds(),
      meanwhile: list(document({ state: stateName(), duration: nanoseconds() })),
    }),
  ),
  takeovers: list(
    document({
      from: text(),
      to: text(),
      how: oneOf(['released', 'lost']),
      since: at(),
      at: at(),
      duration: nanoseconds(),
    }),
  ),
  moreTakeovers: nullable(document({ count: whole(), duration: nanoseconds() })),
  resets: list(
    document({
      buildset: whole('Number of the buildset that the reset ended'),
      at: at(),
      code: text(),
      text: text(),
      culprit: nullable(culpritSchema),
      elapsed: nanoseconds(),
      lostBuildTime: nanoseconds(),
    }),
  ),
  lostBuildTime: nanoseconds(),
  executorQueueTime: nanoseconds(),
  buildTime: nanoseconds(),
  builds: list(
    document({
      uuid: uuid(),
      job: text(),
      buildset: whole(),
      attempt: whole(),
      voting: flag(),
      result: nullable(text()),
      worker: nullable(text()),
      waited: nanoseconds(),
      ran: nanoseconds(),
      usual: nullable(nanoseconds(), "Mean of the job's last successes for the project"),
    }),
  ),
  executorTroubles: list(
    document({ executor: text('Its machine'), trouble: text() }),
    'Executors that take no builds; empty unless a build of the item waits for one',
  ),
  nodeWaits: list(
    document({
      build: uuid(),
      job: text(),
      text: text('For people: its place in the queue, and how the hosts are'),
    }),
    'Builds of the item that wait for hosts now',
  ),
  failedTests: list(
    document({
      build: uuid(),
      job: text(),
      suite: text(),
      name: text(),
      message: text(),
      ms: number(),
      elsewhere: elsewhereSchema(),
      runs: runsSchema(),
    }),
    'Tests that failed in the last buildset, the first of each build',
  ),
  criticalPath: list(
    document({
      from: at(),
      to: at(),
      duration: nanoseconds(),
      kind: kind(),
      state: stateName(),
      text: text('A clause'),
      buildset: whole(),
      repeated: flag('Discarded by a reset'),
      build: optional(uuid()),
    }),
  ),
});
/** What the page reads: the same as {@link Explanation}, with plain texts for its branded ids. */
export type ExplanationDocument = Document<typeof explanationSchema>;

/** Identity; compiles only if the type fits the schema. */
export function explanationDocument(explanation: Explanation): ExplanationDocument {
  return explanation;
}
