import { defineConfig } from 'vitest/config';

/** `npm run test:helm`: apart from `npm test`, because it needs Helm. */
// biome-ignore lint/style/noDefaultExport: Vitest looks for it there.
export default defineConfig({
  test: {
    include: ['test/helm/*.helm.ts'],
    globalSetup: ['test/helm/find-helm.ts'],
    testTimeout: 120_000,
    pool: 'forks',
    maxWorkers: 1,
  },
});
