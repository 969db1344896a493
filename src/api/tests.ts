/** Document of `…/build/<uuid>/tests`: what the files of a build say about its tests, and whether its failures are new. */
import { elsewhereText, type JudgedFailure, type TestResults } from '../model/test-results.ts';
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

/** Runs of a test in the last 14 days, counted from its first failure on. */
export const runsSchema = () =>
  document({
    failed: whole('Of other changes'),
    passed: whole('Of other changes'),
    unchanged: whole('Other changes that failed it and passed it as they were'),
    here: whole('Of this change, as it is, that passed'),
  });

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
      runs: runsSchema(),
      judged: text('What both mean, one clause'),
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
  const judged = failures.map(failure => ({ ...failure, judged: elsewhereText(failure) }));
  return { ...build, totals, problems, suites, failures: judged };
}
