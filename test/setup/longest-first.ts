/**
 * The order of test files: those that take longest, and wait most, begin first, so that no worker is left with one of them when the
 * others are done. Vitest does so from the second run on; a fresh clone knows the sizes of files only.
 */
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** By how long their longest files take, in minutes down to seconds. */
const ROOMS = [/\/test\/simulation\//, /\/test\/e2e\//, /\/test\/check\//, /\/test\/scenario\//];

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    return sorted.toSorted((a, b) => rankOf(a) - rankOf(b));
  }
}

function rankOf({ moduleId }: TestSpecification): number {
  const rank = ROOMS.findIndex(room => room.test(moduleId));
  return rank === -1 ? ROOMS.length : rank;
}
