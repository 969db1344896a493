import { defineConfig } from 'vitest/config';

/** `npm run test:zuul-page`: apart from `npm test`, because it needs Python's pip and the package index. */
// biome-ignore lint/style/noDefaultExport: Vitest looks for it there.
export default defineConfig({
  test: {
    include: ['test/zuul-page/*.zuul-page.ts'],
    globalSetup: ['test/zuul-page/install-zuul-page.ts', 'test/setup/global.ts'],
    // Some thirty pages of 6 MB, on a machine that may be busy.
    testTimeout: 600_000,
    pool: 'forks',
    maxWorkers: 1,
  },
});
