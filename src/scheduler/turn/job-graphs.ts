/**
 * Frozen job graphs, content-addressed: written once, before the commit that names them; the same graph of a hundred items is
 * one blob. Those that items of the pipeline name are kept in memory.
 *
 * Each pipeline has its own: between the freezing of a graph and the commit of the turn no item names it yet, and only the
 * pipeline itself knows that a turn is in progress.
 */
import { sha256 } from '../../lib/ids.ts';
import { isBrokenRecord } from '../../model/codec/record.ts';
import { jobGraphCodec } from '../../model/codec/records.ts';
import type { JobGraph } from '../../model/job.ts';
import type { StorePaths } from '../../store/paths.ts';
import {
  check,
  create,
  type Operation,
  type Store,
  type StoredNode,
  StoreError,
  set,
} from '../../store/port.ts';

/** Names are SHA-256 hashes in hexadecimal, as the item's record has them (`blob`). */
export interface JobGraphs {
  /** Names a graph; it is stored by the next `flush`. */
  put(graph: JobGraph): string;
  /** @throws Error when it is not in memory: `load` it first. */
  get(blob: string): JobGraph;
  /**
   * Makes all graphs that were put durable. Call before committing what names them, and commit what it returns along with it:
   * operations that fail when one was swept meanwhile, and that make the removal by a sweeper that saw it unused fail.
   */
  flush(): Promise<readonly Operation[]>;
  /**
   * Brings stored graphs into memory.
   *
   * @returns those that are missing from the store or cannot be read, with the reason.
   * @throws RecordError `newer` when one was written by an upgraded scheduler.
   */
  load(blobs: Iterable<string>): Promise<ReadonlyMap<string, Error>>;
  /** Drops the others from memory. Between turns only. */
  retain(blobs: ReadonlySet<string>): void;
}

/** Empty: the holder loads what the stored items name. */
export function createJobGraphs(store: Store, paths: StorePaths): JobGraphs {
  const graphs = new Map<string, JobGraph>();
  const unsaved = new Map<string, Uint8Array>();

  async function save(blob: string, bytes: Uint8Array): Promise<Operation> {
    const path = paths.blob(blob);
    try {
      await store.multi([create(path, bytes)]);
      return check(path);
    } catch (error) {
      // Same name, same content: it exists, and may be about to be swept. A new version is not.
      if (error instanceof StoreError && error.code === 'NodeExists') return set(path, bytes);
      throw error;
    }
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
      const saved = await Promise.all([...unsaved].map(([blob, bytes]) => save(blob, bytes)));
      unsaved.clear();
      return saved;
    },
    async load(blobs) {
      const failed = new Map<string, Error>();
      for (const blob of blobs) {
        if (graphs.has(blob)) continue;
        const graph = readGraph(blob, await store.get(paths.blob(blob)));
        if (graph instanceof Error) failed.set(blob, graph);
        else graphs.set(blob, graph);
      }
      return failed;
    },
    retain(blobs) {
      for (const blob of graphs.keys()) if (!blobs.has(blob) && !unsaved.has(blob)) graphs.delete(blob);
    },
  };
}

function readGraph(blob: string, node: StoredNode | undefined): JobGraph | Error {
  if (node === undefined) return new Error(`job graph ${blob} is missing from the store`);
  if (sha256(node.data) !== blob) return new Error(`job graph ${blob} is damaged: its name is not its hash`);
  try {
    return jobGraphCodec.decode(node.data);
  } catch (error) {
    if (isBrokenRecord(error)) return error;
    throw error;
  }
}
