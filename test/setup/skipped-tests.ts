/**
 * What a run says of the tests it skipped, and whether they fail it. Pure.
 *
 * Root on Debian can have every tool the tests want, so there a skip is a failure: walls and pages that nothing looks at would
 * otherwise pass. A tool the run declined (`GATEHOUSE_TEST_…=none`) is an exception.
 */
import type { AbsentTool } from './provided.ts';

export interface MissingTool {
  /** For people: `real ZooKeeper`. */
  readonly what: string;
  /** In the name of each test that needs it. */
  readonly mark: string;
  /** False: no file of this run needs it. */
  readonly wanted: boolean;
  readonly absent: AbsentTool;
}

export interface SkippedTests {
  /** Full names. */
  readonly names: readonly string[];
  readonly missing: readonly MissingTool[];
  /** Nothing may be skipped here. */
  readonly strict: boolean;
}

export interface SkipReport {
  readonly lines: readonly string[];
  readonly failed: boolean;
}

const MOST_NAMES = 20;

export function reportSkips({ names, missing, strict }: SkippedTests): SkipReport {
  const marked = (mark: string) => names.filter(name => name.includes(mark));
  const lines = missing.flatMap(({ what, mark, wanted, absent }) => {
    const count = marked(mark).length;
    return wanted || count > 0 ? [`${what}: none (${absent.reason}), ${count} tests skipped`] : [];
  });
  const excused = missing.filter(({ absent }) => absent.declined).flatMap(({ mark }) => marked(mark));
  const rest = names.filter(name => !excused.includes(name));
  if (rest.length === 0) return { lines, failed: false };
  if (!strict) return { lines: [...lines, `skipped: ${names.length} tests in all`], failed: false };
  const shown = rest.slice(0, MOST_NAMES).map(name => `  ${name}`);
  const more = rest.length > MOST_NAMES ? [`  and ${rest.length - MOST_NAMES} more`] : [];
  const failure = `FAILED: ${rest.length} tests were skipped, and this machine (root on Debian) can run all of them:`;
  return { lines: [...lines, failure, ...shown, ...more], failed: true };
}
