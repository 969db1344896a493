/**
 * Outboxes: data that must leave this system (spans, history rows, reports), written in the same multi as the fact it
 * describes, delivered later, in order, removed only after delivery. Nothing is sent before it is durable.
 *
 *     await fence.commit([set(item, ended), outboxOperation(paths.spanOutbox, spansCodec.encode(spans), now)], id);
 *
 * A row's name is `<bytes>-<milliseconds>-<values>-<seq>`: number, size and age of the waiting rows and the values they hold
 * are known from one listing of names, even when the destination has been down for hours. Rows of release 0.2 have no
 * number of values. outbox-drain.ts delivers.
 */
import { type Nanoseconds, toMilliseconds } from '../lib/clock.ts';
import { create, type Operation, type Store } from './port.ts';

/** A row as its name describes it. */
export interface OutboxEntry {
  readonly path: string;
  readonly bytes: number;
  /** Wall time in milliseconds since the epoch; undefined when the row has none. */
  readonly at: number | undefined;
  /** Spans, history rows or reports in it; 1 when the name has no number. */
  readonly values: number;
}

/** A row that was read. */
export interface OutboxRow extends OutboxEntry {
  /** Encoded by the writer, usually a list of values; the outbox does not decode it. */
  readonly data: Uint8Array;
}

/**
 * One row.
 *
 * @param path the outbox, which must exist and never be deleted.
 * @param at when the fact happened; without it a row's age counts from when a reader first saw it.
 * @param values how many values it holds.
 */
export function outboxOperation(path: string, data: Uint8Array, at?: Nanoseconds, values = 1): Operation {
  const written = at === undefined ? 0 : Math.trunc(toMilliseconds(at));
  return create(`${path}/${data.byteLength}-${written}-${values}-`, data, { sequential: true });
}

/** The waiting rows, oldest first. */
export async function listOutbox(store: Store, path: string): Promise<readonly OutboxEntry[]> {
  const names = (await store.children(path)) ?? [];
  const ordered = names.map(name => ({ name, sequence: name.slice(-10) }));
  ordered.sort((a, b) => (a.sequence < b.sequence ? -1 : 1));
  return ordered.map(({ name }) => {
    const [bytes, at, ...rest] = name.split('-');
    const values = rest.length > 1 ? Number(rest[0]) : 1;
    return { path: `${path}/${name}`, bytes: Number(bytes), at: at === '0' ? undefined : Number(at), values };
  });
}

/** The rows of these entries that still exist, in order. */
export async function readOutbox(
  store: Store,
  entries: readonly OutboxEntry[],
): Promise<readonly OutboxRow[]> {
  const nodes = await store.getMany(entries.map(entry => entry.path));
  return entries.flatMap((entry, index) => {
    const node = nodes[index];
    return node === undefined ? [] : [{ ...entry, data: node.data }];
  });
}
