/**
 * The current content of `nodes.yaml`; the file may be reloaded while the process runs.
 *
 *     const nodes = createLiveNodes(read);
 *     using _ = nodes.onChange(publish);
 *     nodes.adopt(readAgain);                // SIGHUP
 */
import type { NodesFile } from '../model/static-host.ts';

export interface LiveNodes {
  current(): NodesFile;
  adopt(file: NodesFile): void;
  onChange(listener: () => void): Disposable;
}

/** Of an installation without such a file. */
export const NO_NODES: NodesFile = {
  hosts: [],
  pools: [],
  tenantLimits: new Map(),
  outageLimit: null,
};

export function createLiveNodes(first: NodesFile): LiveNodes {
  let file = first;
  const listeners = new Set<() => void>();
  return {
    current: () => file,
    adopt(next) {
      file = next;
      for (const listener of listeners) listener();
    },
    onChange(listener) {
      listeners.add(listener);
      return { [Symbol.dispose]: () => void listeners.delete(listener) };
    },
  };
}
