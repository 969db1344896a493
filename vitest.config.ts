import { defineConfig } from 'vitest/config';
import { MixedSequencer } from './test/setup/mixed-sequencer.ts';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: 'test/setup/global.ts',
    setupFiles: ['test/setup/leaves-nothing.ts', 'test/setup/fixed-seed.ts'],
    // For what hangs; the conditions that tests wait for have shorter deadlines and name themselves. Loaded machines are slow.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    pool: 'forks',
    // Importing the service takes a second of a processor: files share their processes, and what they import.
    isolate: false,
    // Node strips the types itself: nothing is transformed, and what is compiled is kept between processes.
    // No test replaces a module or lives in a source file, for which each test file would be parsed once more (`nodeLoader`).
    experimental: { viteModuleRunner: false, nodeLoader: false },
    // More than there are processors: many tests wait for clocks, disks and servers. With four, two processors are idle for a tenth of a run.
    maxWorkers: 5,
    sequence: { sequencer: MixedSequencer },
  },
});
