import { defineConfig } from 'vitest/config';

/** `npm run test:jaeger`: apart from `npm test`, because it needs a Jaeger. */
// biome-ignore lint/style/noDefaultExport: Vitest looks for it there.
export default defineConfig({
  test: {
    include: ['test/jaeger/*.jaeger.ts'],
    globalSetup: ['test/jaeger/start-jaeger.ts', 'test/setup/global.ts'],
    testTimeout: 60_000,
    // Stories are played in hooks: a loaded machine takes two minutes for one.
    hookTimeout: 400_000,
    pool: 'forks',
    maxWorkers: 1,
  },
});
