import { pause } from '../lib/pause.ts';
import type { Dirty } from '../lib/signal.ts';

/** @param ms after which it is dirty in any case; undefined: never. Returns early when aborted. */
export async function untilDirty(dirty: Dirty, ms: number | undefined, signal: AbortSignal): Promise<void> {
  const over = new AbortController();
  if (ms !== undefined)
    void pause(Math.max(0, ms), AbortSignal.any([signal, over.signal])).then(() => {
      if (!over.signal.aborted) dirty.set();
    });
  try {
    await dirty.wait(signal);
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    over.abort();
  }
}
