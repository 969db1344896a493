import { defineConfig } from 'vitest/config';

/** `npm run test:kubernetes`: apart from `npm test`, because it needs programs of Kubernetes. */
// biome-ignore lint/style/noDefaultExport: Vitest looks for it there.
export default defineConfig({
  test: {
    include: ['test/kubernetes/*.kubernetes.ts'],
    exclude: process.env.KUBERNETES_ADMIN === undefined ? [] : ['test/kubernetes/outages.kubernetes.ts'],
    globalSetup: ['test/kubernetes/given-programs.ts', 'test/setup/global.ts'],
    // Four servers start before the first test of a file, on machines that may be busy.
    testTimeout: 180_000,
    hookTimeout: 400_000,
    pool: 'forks',
    maxWorkers: 1,
    experimental: { viteModuleRunner: false },
  },
});
