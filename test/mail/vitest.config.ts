import { defineConfig } from 'vitest/config';

/** `npm run test:mail`: apart from `npm test`, because it needs a mail server. */
// biome-ignore lint/style/noDefaultExport: Vitest looks for it there.
export default defineConfig({
  test: {
    include: ['test/mail/*.mail.ts'],
    globalSetup: ['test/mail/start-mailpit.ts', 'test/setup/global.ts'],
    testTimeout: 120_000,
    hookTimeout: 60_000,
    pool: 'forks',
    maxWorkers: 1,
  },
});
