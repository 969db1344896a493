import { defineConfig } from 'vitest/config';

/** `npm run test:zuul-client`: apart from `npm test`, because it needs Python and the package index. */
// biome-ignore lint/style/noDefaultExport: Vitest looks for it there.
export default defineConfig({
  test: {
    include: ['test/zuul-client/*.zuul-client.ts'],
    globalSetup: ['test/zuul-client/install-zuul-client.ts', 'test/setup/global.ts'],
    // A story of a minute on an idle machine; each command starts Python.
    testTimeout: 400_000,
    pool: 'forks',
    maxWorkers: 1,
  },
});
