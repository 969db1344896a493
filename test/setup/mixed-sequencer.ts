/** The order of test files, by what they took the last time: see mixed-order.ts. */
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { mixedOrder } from './mixed-order.ts';

export class MixedSequencer extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    // By size where no file of a room was run before.
    const sorted = await super.sort(files);
    const lasted = (file: TestSpecification) => {
      const milliseconds = this.ctx.cache.getTestSpecificationResult(file)?.duration;
      return milliseconds === undefined ? undefined : milliseconds / 1000;
    };
    return [...mixedOrder(sorted, ({ moduleId }) => moduleId, lasted)];
  }
}
