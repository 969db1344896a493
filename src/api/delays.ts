/** `…/pipeline/<p>/delays`: the delays of a pipeline (`src/explain/delays.ts`), with its queues and links. */
import type { Delays } from '../explain/delays.ts';
import { kind, stateName } from './explanation.ts';
import {
  byName,
  type Document,
  document,
  flag,
  list,
  nanoseconds,
  nullable,
  number,
  text,
  uuid,
  whole,
} from './schema.ts';

const at = () => nanoseconds('Nanoseconds since the epoch');
const blamed = {
  resets: whole(),
  items: whole('Items tested again because of it'),
  lostBuildTime: nanoseconds(),
};
const spread = { mean: nanoseconds(), p50: nanoseconds(), p95: nanoseconds(), longest: nanoseconds() };

/** `GET …/pipeline/<p>/delays`. */
export const delaysSchema = document({
  tenant: text(),
  pipeline: text(),
  since: at(),
  covered: nanoseconds('Every item since then is counted'),
  until: at(),
  truncated: flag('Older items are not counted'),
  items: whole(),
  queued: whole('Still in the pipeline'),
  left: whole(),
  results: list(document({ result: text(), items: whole() })),
  leftPerHour: number(),
  succeededPerHour: number(),
  took: nullable(document(spread), 'For items that left'),
  time: nanoseconds('Sum over all items'),
  states: list(
    document({
      ...spread,
      state: stateName(),
      kind: kind(),
      duration: nanoseconds(),
      share: number('0 to 1'),
      perItem: nanoseconds(),
      items: whole(),
    }),
    'Longest first',
  ),
  resets: document({
    count: whole(),
    items: whole(),
    lostBuildTime: nanoseconds(),
    buildTime: nanoseconds(),
    lostShare: number('0 to 1'),
    byCause: list(document({ ...blamed, code: text() })),
    byJob: list(document({ ...blamed, job: text() })),
    byProject: list(document({ ...blamed, project: text() })),
    byChange: list(document({ ...blamed, change: text(), item: uuid(), job: nullable(text()) })),
    list: list(
      document({
        at: at(),
        item: uuid(),
        change: text(),
        code: text(),
        culprit: nullable(
          document({ item: uuid(), change: text(), job: nullable(text()), build: nullable(uuid()) }),
        ),
        lostBuildTime: nanoseconds(),
      }),
      'The costliest 100, in the order of time',
    ),
  }),
  flaky: list(
    document({
      job: text(),
      builds: whole('Builds that failed although another one passed with the same tested state'),
      items: whole(),
      buildTime: nanoseconds(),
      item: uuid('Of the last of them'),
      build: uuid(),
    }),
    'The worst first; at most 20',
  ),
  slowest: list(
    document({
      item: uuid(),
      changes: list(text()),
      enqueuedAt: at(),
      duration: nanoseconds(),
      result: nullable(text()),
      reason: nullable(text()),
      resets: whole(),
      lostBuildTime: nanoseconds(),
      mostly: nullable(document({ state: stateName(), kind: kind(), duration: nanoseconds() })),
      page: text(),
      traceUrl: nullable(text()),
    }),
  ),
  load: list(
    document({
      at: at(),
      states: byName(number(), 'Items in each state on average'),
      left: whole(),
      succeeded: whole(),
      resets: whole(),
    }),
  ),
  queues: list(document({ name: text(), window: whole('0: no limit'), items: whole() })),
});

/** The document with the precise types of {@link Delays}. */
export interface DelaysAnswer extends Omit<Delays, 'slowest'> {
  readonly tenant: string;
  readonly pipeline: string;
  /** Current queues; `window` 0: no limit. */
  readonly queues: readonly { readonly name: string; readonly window: number; readonly items: number }[];
  readonly slowest: readonly (Delays['slowest'][number] & {
    readonly page: string;
    readonly traceUrl: string | null;
  })[];
}

/** Identity; compiles only if the type fits the schema. */
export function delaysDocument(answer: DelaysAnswer): Document<typeof delaysSchema> {
  return answer;
}
