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
  /\/test\/scenario\//,
  /\/test\/e2e\//,
];

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
