/** Stands in for a scheduler where none is given: binds pods to the one machine, as soon as it has the labels that they ask for. */
import type { CoreV1Api } from '@kubernetes/client-node';
import { pause } from '../../src/lib/pause.ts';
import { MACHINE } from '../fake/kubernetes/kubelet.ts';

const LOOK_AGAIN_MS = 200;

export function bindPods(admin: CoreV1Api, namespace: string): AsyncDisposable {
  const over = new AbortController();

  async function look(): Promise<void> {
    const { metadata } = await admin.readNode({ name: MACHINE });
    const labels = metadata?.labels ?? {};
    const { items } = await admin.listNamespacedPod({ namespace, fieldSelector: 'spec.nodeName=' });
    for (const { metadata: { name = '' } = {}, spec } of items) {
      const asked = Object.entries(spec?.nodeSelector ?? {});
      if (!asked.every(([label, value]) => labels[label] === value)) continue;
      const target = { apiVersion: 'v1', kind: 'Node', name: MACHINE };
      await admin.createNamespacedPodBinding({ name, namespace, body: { metadata: { name }, target } });
    }
  }

  const loop = (async () => {
    while (!over.signal.aborted) {
      // The API server may be away, and pods may be deleted meanwhile.
      await look().catch(() => undefined);
      await pause(LOOK_AGAIN_MS, over.signal);
    }
  })();
  return {
    async [Symbol.asyncDispose]() {
      over.abort();
      await loop;
    },
  };
}
