import { defineConfig } from 'vitest/config';

/** `npm run test:gerrit`: apart from `npm test`, because it needs a Gerrit. */
// biome-ignore lint/style/noDefaultExport: Vitest looks for it there.
export default defineConfig({
  test: {
    include: ['test/gerrit/real/*.gerrit.ts'],
    globalSetup: ['test/gerrit/real/start-gerrit.ts', 'test/setup/global.ts'],
    // A Java process starts twice before the first test, on machines that may be busy.
    testTimeout: 180_000,
    hookTimeout: 600_000,
    pool: 'forks',
    maxWorkers: 1,
    experimental: { viteModuleRunner: false },
  },
});
