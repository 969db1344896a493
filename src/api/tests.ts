/** Document of `…/build/<uuid>/tests`: what the files of a build say about its tests, and whether its failures are new. */
import type { JudgedFailure, TestResults } from '../model/test-results.ts';
import {
  type Document,
  document,
  list,
  milliseconds,
  nanoseconds,
  nullable,
  text,
  uuid,
  whole,
} from './schema.ts';

/** Failures elsewhere; null: none lately, so that it is new. */
export const elsewhereSchema = () =>
  nullable(
    document({
      changes: whole('Other changes that failed it in the last 14 days'),
      last: document({ at: nanoseconds(), build: uuid(), change: text('Key of the change') }, 'The newest'),
    }),
  );

/** `GET …/build/<uuid>/tests`. */
export const testsSchema = document({
  build: uuid(),
  job: text(),
  result: nullable(text('Of the build')),
  totals: document({ files: whole(), suites: whole(), cases: whole(), failed: whole(), skipped: whole() }),
  problems: list(text(), 'What was left out or could not be read'),
  suites: list(
    document({ name: text(), cases: whole(), failed: whole(), skipped: whole(), ms: milliseconds() }),
    'Those with most failures first; not all of many',
  ),
  failures: list(
    document({
      suite: text(),
      name: text(),
      message: text(),
      ms: milliseconds(),
      elsewhere: elsewhereSchema(),
    }),
    'The first ones',
  ),
});
/** Read by `gatehouse tests`. */
export type TestsDocument = Document<typeof testsSchema>;

/** @param failures those of the results, judged. */
export function testsDocument(
  build: Pick<TestsDocument, 'build' | 'job' | 'result'>,
  { totals, problems, suites }: TestResults,
  failures: readonly JudgedFailure[],
): TestsDocument {
  return { ...build, totals, problems, suites, failures };
}
