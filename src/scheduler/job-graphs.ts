/**
 * Frozen job graphs, content-addressed: written once, before the commit that names them; the same graph of a hundred items is
 * one blob. Memory keeps those that items of the pipeline name.
 *
 * Each pipeline has its own: between the freezing of a graph and the commit of the turn no item names it yet, and only the
 * pipeline itself knows that it is in the middle of a turn.
 */
import { sha256 } from '../lib/ids.ts';
import { jobGraphCodec } from '../model/codec/records.ts';
import type { JobGraph } from '../model/job.ts';
import type { StorePaths } from '../store/paths.ts';
import { create, type Store, StoreError } from '../store/port.ts';

export interface JobGraphs {
  /** Names a graph; it is stored by the next `flush`. */
  put(graph: JobGraph): string;
  /** @throws Error when it is not in memory: `load` it first. */
  get(blob: string): JobGraph;
  /** Makes all graphs that were put durable. Call before committing what names them. */
  flush(): Promise<void>;
  /** Brings stored graphs into memory. */
  load(blobs: Iterable<string>): Promise<void>;
  /** Drops the others from memory. Between turns only. */
  retain(blobs: ReadonlySet<string>): void;
}

export function createJobGraphs(store: Store, paths: StorePaths): JobGraphs {
  const graphs = new Map<string, JobGraph>();
  const unsaved = new Map<string, Uint8Array>();

  async function save(blob: string, bytes: Uint8Array): Promise<void> {
    try {
      await store.multi([create(paths.blob(blob), bytes)]);
    } catch (error) {
      // Same name, same content: somebody else wrote it.
      if (!(error instanceof StoreError && error.code === 'NodeExists')) throw error;
    }
    unsaved.delete(blob);
  }

  return {
    put(graph) {
      const bytes = jobGraphCodec.encode(graph);
      const blob = sha256(bytes);
      if (!graphs.has(blob)) {
        graphs.set(blob, graph);
        unsaved.set(blob, bytes);
      }
      return blob;
    },
    get(blob) {
      const graph = graphs.get(blob);
      if (graph === undefined) throw new Error(`job graph ${blob} is not loaded`);
      return graph;
    },
    async flush() {
      await Promise.all([...unsaved].map(([blob, bytes]) => save(blob, bytes)));
    },
    async load(blobs) {
      for (const blob of blobs) {
        if (graphs.has(blob)) continue;
        const node = await store.get(paths.blob(blob));
        if (node === undefined) throw new Error(`job graph ${blob} is missing from the store`);
        graphs.set(blob, jobGraphCodec.decode(node.data));
      }
    },
    retain(blobs) {
      for (const blob of graphs.keys()) if (!blobs.has(blob) && !unsaved.has(blob)) graphs.delete(blob);
    },
  };
}
