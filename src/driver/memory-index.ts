/**
 * Small indexes in the driver's memory: names to texts, spread over 256 entries of the memory, so that lanes that run side by side
 * rarely write the same one, and none grows large.
 */

import { sha256 } from '../lib/ids.ts';
import { RecordError } from '../model/codec/record.ts';
import type { Json } from '../model/job.ts';
import type { DriverMemory } from './driver-memory.ts';
import { isMapping } from './read-mapping.ts';

const VERSION = 1;
/** Texts in one entry. */
const MOST = 500;

/** One index as one event sees and changes it. */
export interface MemoryIndex {
  /** Undefined: there is none of this name. */
  get(name: string): Promise<string | undefined>;
  /** @param text undefined: forget it. */
  set(name: string, text: string | undefined): Promise<void>;
  /** Entries that differ, for `ProcessedEvent.memory`. */
  changes(): readonly { readonly key: string; readonly value: Json }[];
  /** Names that gave way to newer ones. */
  evicted(): readonly string[];
}

/**
 * @param prefix of its entries in the memory, e.g. `refs/acme/app`.
 * @param most texts in one entry; the oldest gives way.
 */
export function openMemoryIndex(memory: DriverMemory, prefix: string, most = MOST): MemoryIndex {
  const evicted: string[] = [];
  const read = new Map<string, Map<string, string>>();
  const changed = new Set<string>();
  async function bucketOf(name: string): Promise<readonly [string, Map<string, string>]> {
    const key = `${prefix}/${sha256(name).slice(0, 2)}`;
    const known = read.get(key);
    if (known !== undefined) return [key, known];
    const bucket = decode(await memory.get(key));
    read.set(key, bucket);
    return [key, bucket];
  }
  return {
    async get(name) {
      const [, bucket] = await bucketOf(name);
      return bucket.get(name);
    },
    async set(name, text) {
      const [key, bucket] = await bucketOf(name);
      if (bucket.get(name) === text) return;
      changed.add(key);
      bucket.delete(name);
      if (text !== undefined) bucket.set(name, text);
      const [oldest] = bucket.keys();
      if (bucket.size <= most || oldest === undefined) return;
      bucket.delete(oldest);
      evicted.push(oldest);
    },
    evicted: () => evicted,
    changes: () =>
      [...changed].map(key => ({
        key,
        value: { version: VERSION, entries: Object.fromEntries(read.get(key) ?? []) },
      })),
  };
}

/** @throws RecordError `newer` when an upgraded process wrote it. */
function decode(value: Json | undefined): Map<string, string> {
  if (!isMapping(value)) return new Map();
  if (typeof value.version === 'number' && value.version > VERSION)
    throw new RecordError('newer', `an index has version ${value.version}; known is ${VERSION}`);
  const entries = isMapping(value.entries) ? Object.entries(value.entries) : [];
  return new Map(
    entries.flatMap(([name, text]) => (typeof text === 'string' ? [[name, text] as const] : [])),
  );
}
