/**
 * One record of the store, kept current by a watch.
 *
 *     const report = await openRecordView(store, paths.senderReport, senderReportCodec, onError);
 *     report.value()?.sent
 */
import type { Codec } from '../../model/codec/record.ts';
import type { Store } from '../../store/port.ts';
import { createRefresher, touchOnContact } from '../../store/refresher.ts';

/** The value last read: it stays while the store is out of contact. */
export interface RecordView<T> extends Disposable {
  /** Undefined: there is none, or none yet. */
  value(): T | undefined;
  /** After it changed. */
  onChange(listener: () => void): Disposable;
}

/** @param onError called when a read fails or the record is unreadable; the view stays unchanged. */
export async function openRecordView<T>(
  store: Store,
  path: string,
  codec: Codec<T>,
  onError: (error: unknown) => void,
): Promise<RecordView<T>> {
  const listeners = new Set<() => void>();
  let version = -1;
  let value: T | undefined;

  const copy = createRefresher(async () => {
    const node = await store.get(path);
    if ((node?.stat.version ?? -1) === version) return;
    version = node?.stat.version ?? -1;
    // The node is created without data and filled afterwards.
    value = node === undefined || node.data.byteLength === 0 ? undefined : codec.decode(node.data);
    for (const listener of listeners) listener();
  }, onError);
  const watch = store.watch(path, () => void copy.touch());
  const contact = touchOnContact(store, copy);
  await copy.touch();

  return {
    value: () => value,
    onChange(listener) {
      const entry = () => listener();
      listeners.add(entry);
      return { [Symbol.dispose]: () => void listeners.delete(entry) };
    },
    [Symbol.dispose]() {
      watch[Symbol.dispose]();
      contact[Symbol.dispose]();
      copy[Symbol.dispose]();
    },
  };
}
