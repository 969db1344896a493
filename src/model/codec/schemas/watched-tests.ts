import type { WatchedTests } from '../../watched-tests.ts';
import { list, object, text, time } from '../schema.ts';

/** {@link WatchedTests}, the record `watched-tests`. */
export const watchedTestsSchema = object<WatchedTests>({
  tests: list(object<WatchedTests['tests'][number]>({ suite: text, name: text, at: time })),
});
