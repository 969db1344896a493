/** A fake cluster with its kubelet, and a file of nodes that names it as the provider `cluster`. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type FakeApiServer, startApiServer } from './api-server.ts';
import { type Kubelet, startKubelet } from './kubelet.ts';
import { podProvider } from './pod-provider.ts';

export interface FakeCluster extends AsyncDisposable {
  readonly api: FakeApiServer;
  readonly kubelet: Kubelet;
  /** For files of a test; goes with the cluster. */
  readonly folder: string;
  /** Of the settings: it names the file of nodes. */
  readonly section: string;
}

/** Its labels are `debian` and `invalid`, whose image is none. */
export async function startCluster({ maxPods = 4 } = {}): Promise<FakeCluster> {
  await using opening = new AsyncDisposableStack();
  const api = opening.use(await startApiServer());
  const kubelet = opening.use(await startKubelet(api.kubeconfig, 'tests', { bindsIn: 'jobs' }));
  api.use(kubelet);
  const folder = await mkdtemp(path.join(tmpdir(), 'gatehouse-nodes-'));
  opening.defer(() => rm(folder, { recursive: true }));
  const kubeconfig = path.join(folder, 'kubeconfig');
  await writeFile(kubeconfig, api.kubeconfig);
  const nodes = path.join(folder, 'nodes.yaml');
  await writeFile(nodes, podProvider({ kubeconfig, context: 'tests', maxPods }));
  const lifetime = opening.move();
  return {
    ...{ api, kubelet, folder, section: `[nodes]\nconfig = ${nodes}\n` },
    [Symbol.asyncDispose]: () => lifetime.disposeAsync(),
  };
}
