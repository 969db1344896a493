/** The sweep of an executor whose installation has no builds, so that all its pods are left over. */
import { vi } from 'vitest';
import { parseUuid } from '../../../src/lib/ids.ts';
import type { Log } from '../../../src/lib/log.ts';
import { buildRequestCodec } from '../../../src/model/codec/records.ts';
import type { KubeClients } from '../../../src/nodes/kubernetes/kube-client.ts';
import { sweepPods } from '../../../src/nodes/kubernetes/sweep-pods.ts';
import { publishOperations } from '../../../src/nodes/publish-hosts.ts';
import { openEmbeddedStore } from '../../../src/store/embedded/server.ts';
import { storePaths } from '../../../src/store/paths.ts';
import { RequestQueue } from '../../../src/store/request-queue.ts';

export const INSTALLATION = parseUuid('f'.repeat(32));

interface Sweeper extends AsyncDisposable {
  /** Sweeps until `seen` does not throw. */
  sweepUntil(seen: () => void | Promise<void>): Promise<void>;
}

export async function openSweeper(
  clients: KubeClients,
  place: { readonly kubeconfig: string; readonly context: string },
  log: Pick<Log, 'info' | 'warn'>,
): Promise<Sweeper> {
  const server = openEmbeddedStore({ file: ':memory:' });
  const store = server.connect();
  const paths = storePaths();
  const requests = new RequestQueue({ store, path: paths.requests('build'), codec: buildRequestCodec });
  await requests.prepare();
  const pool = {
    ...{ name: 'cluster', ...place, maxParallelJobs: 1, startTimeout: 1, labels: ['x'] },
    pods: { x: { image: 'x', pullPolicy: 'Always' } as const },
  };
  await store.multi(await publishOperations(store, paths, { hosts: [], pools: [pool] }));
  const deps = { store, paths, log, installation: INSTALLATION, clients, requests, zone: {} };
  return {
    async sweepUntil(seen) {
      const stop = new AbortController();
      const sweeping = sweepPods(deps, stop.signal);
      await vi.waitFor(seen, 30_000);
      stop.abort();
      await sweeping;
    },
    [Symbol.asyncDispose]: () => server.close(),
  };
}
