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
const used = document({
  name: text(),
  builds: whole(),
  busy: nanoseconds('Within the time covered'),
  mean: number('Builds at a time, on average'),
});

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
      item: uuid('The one that was in it for `longest`'),
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
    worst: list(
      document({
        item: uuid(),
        change: text(),
        job: nullable(text()),
        build: nullable(uuid()),
        at: at(),
        resets: whole(),
        lostBuildTime: nanoseconds(),
        delayed: whole('Items that would have landed earlier without it'),
        stolen: nanoseconds('How much earlier, all together'),
      }),
      'Culprits, the one that stole most time first; at most 20',
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
      builds: number('Builds of the pipeline that executors had, on average'),
      window: nullable(whole('The narrowest that an item entered then; null: none waited for its place')),
    }),
  ),
  use: document({ executors: list(used), hosts: list(used) }, 'The busiest first; at most 20 of each'),
  picture: document({
    items: whole('Of the period'),
    skip: whole('Newer ones that are left out'),
    rows: list(
      document({
        item: uuid(),
        change: text(),
        queue: text(),
        enqueuedAt: at(),
        until: nanoseconds('When it left, or now'),
        result: nullable(text('Null: still in the pipeline')),
        states: list(
          document({ state: stateName(), from: at() }),
          'Each ends where the next begins; at most 40',
        ),
        resets: list(document({ at: at(), code: text(), culprit: nullable(uuid()) }), 'At most 40'),
        ghost: nullable(
          document({ at: at(), culprit: uuid(), change: text('Of the culprit') }),
          'When it would have landed without the culprit that delayed it most',
        ),
        traceUrl: nullable(text()),
      }),
      'In the order in which they entered',
    ),
  }),
  queues: list(document({ name: text(), window: whole('0: no limit'), items: whole() })),
});

/** The document with the precise types of {@link Delays}. */
export interface DelaysAnswer extends Omit<Delays, 'slowest' | 'picture'> {
  readonly tenant: string;
  readonly pipeline: string;
  /** Current queues; `window` 0: no limit. */
  readonly queues: readonly { readonly name: string; readonly window: number; readonly items: number }[];
  readonly slowest: readonly (Delays['slowest'][number] & {
    readonly page: string;
    readonly traceUrl: string | null;
  })[];
  readonly picture: Omit<Delays['picture'], 'rows'> & {
    readonly rows: readonly (Delays['picture']['rows'][number] & { readonly traceUrl: string | null })[];
  };
}

/** Identity; compiles only if the type fits the schema. */
export function delaysDocument(answer: DelaysAnswer): Document<typeof delaysSchema> {
  return answer;
}
