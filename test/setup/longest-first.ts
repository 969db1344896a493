/**
 * The order of test files: those that take longest, and wait most, begin first, so that no worker is left with one of them when the
 * others are done. Vitest does so from the second run on; a fresh clone knows the sizes of files only.
 */
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * By how long their longest files take, in minutes down to seconds; those that start a dozen processes each (chaos, cluster) apart
 * from one another, for together they wait in vain for each other's processes on a small machine.
 */
const ROOMS = [
  /\/test\/simulation\//,
  /\/test\/e2e\/chaos\//,
  /\/test\/check\//,
  /\/test\/e2e\/cluster\/disasters/,
  /\/test\/github\/stories\//,
  /\/test\/scenario\//,
  /\/test\/e2e\//,
  /\/test\/(conformance|gerrit)\//,
  /\/test\/unit\/(executor|store\/zookeeper|cmd)\//,
];

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    // By size where no file of a room was run before.
    const sorted = await super.sort(files);
    const lasted = (file: TestSpecification) => this.ctx.cache.getTestSpecificationResult(file)?.duration;
    const guesses = new Map(
      [...Map.groupBy(files, rankOf)].map(([rank, room]) => [
        rank,
        mean(room.flatMap(each => lasted(each) ?? [])),
      ]),
    );
    // A file that was never run takes as long as others of its room; Vitest alone would begin it last.
    const guess = (file: TestSpecification) => lasted(file) ?? guesses.get(rankOf(file)) ?? 0;
    return sorted.toSorted((a, b) => rankOf(a) - rankOf(b) || guess(b) - guess(a));
  }
}

function rankOf({ moduleId }: TestSpecification): number {
  const rank = ROOMS.findIndex(room => room.test(moduleId));
  return rank === -1 ? ROOMS.length : rank;
}

function mean(values: readonly number[]): number {
  return values.length === 0 ? 0 : values.reduce((sum, each) => sum + each, 0) / values.length;
}
