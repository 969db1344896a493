/**
 * The form of builds and buildsets in answers: Zuul's fields under Zuul's names, our own below `gatehouse`. Made in `builds.ts`.
 *
 * Zuul's times are UTC to the second without a zone (`2026-11-20T17:30:00`); the exact times are below `gatehouse`, in
 * nanoseconds as text.
 */
import Type from 'typebox';
import { artifactSchema } from './artifacts.ts';
import {
  type Document,
  document,
  flag,
  json,
  list,
  nanoseconds,
  nullable,
  number,
  optional,
  text,
  together,
  uuid,
  whole,
} from './schema.ts';

const zuul = () => nullable(text('UTC to the second, without a zone'));
const plainBuild = document({
  _id: nullable(whole(), 'Null until stored in the database'),
  uuid: uuid(),
  job_name: text(),
  result: nullable(text()),
  held: flag('Its hosts are held now, by an autohold; false while the store is away'),
  execute_time: zuul(),
  start_time: zuul(),
  end_time: zuul(),
  duration: nullable(number(), 'Seconds'),
  voting: flag(),
  log_url: nullable(text()),
  nodeset: nullable(text()),
  error_detail: nullable(text()),
  final: flag('False: another attempt followed'),
  artifacts: list(artifactSchema, 'Returned by the job; of one build also the list of its files'),
  provides: list(document({ name: text() }), 'As the job says'),
});
const ourBuild = document({
  item: uuid(),
  attempt: whole(),
  cause: json('Cause of a cancelled or skipped build'),
  trace_id: text(),
  span_id: text(),
  worker: nullable(text()),
  warnings: list(text(), 'Left by the job, or about what it returned'),
  file_comments: list(
    document({
      file: text(),
      line: whole('From 1'),
      level: text(),
      message: text(),
      range: optional(json()),
    }),
    'About lines of the change as it was proposed',
  ),
  waiting_ms: nullable(number()),
  running_ms: nullable(number()),
  requested_at: nullable(nanoseconds()),
  started_at: nullable(nanoseconds()),
  ended_at: nullable(nanoseconds()),
  trace_url: optional(nullable(text())),
  tests: optional(
    nullable(
      document({
        cases: whole(),
        failed: whole(),
        skipped: whole(),
        failed_elsewhere: whole('Of the failed ones listed, those that other changes failed lately, too'),
      }),
      'Null: the job left no results of tests',
    ),
  ),
});
const refSchema = document({
  project: text(),
  branch: nullable(text()),
  change: nullable(Type.Union([whole(), text()]), 'A number if the host numbers its changes'),
  patchset: nullable(text()),
  ref: nullable(text()),
  oldrev: nullable(text()),
  newrev: nullable(text()),
  ref_url: nullable(text()),
});
const eventFields = document({
  pipeline: text(),
  event_id: nullable(text()),
  event_timestamp: zuul(),
  queue_item_uuid: uuid('As `gatehouse.item`'),
});

/** `GET …/build/<uuid>`, and each entry of `GET …/builds`. */
export const buildSchema = together(
  together(plainBuild, eventFields),
  document({
    ref: refSchema,
    buildset: document({
      uuid: uuid(),
      refs: optional(list(refSchema, 'All changes of the buildset; not in lists')),
    }),
    gatehouse: ourBuild,
  }),
);
/** Read by the page of a build's log. `gatehouse.trace_url` and `gatehouse.tests` are absent in lists. */
export type BuildDocument = Document<typeof buildSchema>;

const buildOfSet = together(plainBuild, document({ ref: refSchema, gatehouse: ourBuild }));
/** `GET …/buildset/<uuid>`, and, without its builds, each entry of `GET …/buildsets`. */
export const buildsetSchema = together(
  eventFields,
  document({
    _id: nullable(whole()),
    uuid: uuid(),
    result: nullable(text()),
    message: nullable(text()),
    first_build_start_time: zuul(),
    last_build_end_time: zuul(),
    refs: list(refSchema),
    builds: optional(
      list(
        buildOfSet,
        'Those that were tried again (`final` is false) among them; absent: none, or in a list',
      ),
    ),
    events: list(document({ event_time: zuul(), event_type: text(), description: text() })),
    gatehouse: document({
      item: uuid(),
      number: whole(),
      cause: json('Cause of the end of a buildset without a result'),
      trace_id: text(),
      span_id: text(),
      created_at: nullable(nanoseconds()),
      ended_at: nullable(nanoseconds()),
    }),
  }),
);
/** `builds` is undefined in lists, and where there are none, as in Zuul. */
export type BuildsetDocument = Document<typeof buildsetSchema>;

/** What Zuul says of every build, also of those in a buildset. */
export type PlainBuild = Document<typeof plainBuild>;
/** What only we say of a build. */
export type OurBuild = Document<typeof ourBuild>;
/** A change, or a ref that moved. */
export type RefOfBuild = Document<typeof refSchema>;
