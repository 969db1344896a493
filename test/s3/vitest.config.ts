import { defineConfig } from 'vitest/config';

/** `npm run test:s3`: apart from `npm test`, because it needs a server that speaks S3. */
// biome-ignore lint/style/noDefaultExport: Vitest looks for it there.
export default defineConfig({
  test: {
    include: ['test/s3/*.s3.ts'],
    globalSetup: ['test/s3/find-s3.ts', 'test/setup/global.ts'],
    testTimeout: 120_000,
    hookTimeout: 60_000,
    pool: 'forks',
    maxWorkers: 1,
  },
});
