/**
 * One record of the store, kept current by a watch.
 *
 *     const report = await openRecordView(store, paths.senderReport, senderReportCodec, onError);
 *     report.value()?.sent
 */
import { createListeners } from '../../lib/listeners.ts';
import type { Codec } from '../../model/codec/record.ts';
import type { Store } from '../../store/port.ts';
import { createPathRefresher } from '../../store/refresher.ts';

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
  const listeners = createListeners();
  let version = -1;
  let value: T | undefined;

  const copy = createPathRefresher(
    store,
    path,
    async () => {
      const node = await store.get(path);
      if ((node?.stat.version ?? -1) === version) return;
      version = node?.stat.version ?? -1;
      // The node is created without data and filled afterwards.
      value = node === undefined || node.data.byteLength === 0 ? undefined : codec.decode(node.data);
      listeners.call();
    },
    { onError },
  );
  await copy.touch();

  return {
    value: () => value,
    onChange: listeners.add,
    [Symbol.dispose]: copy[Symbol.dispose],
  };
}
