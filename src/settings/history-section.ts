/** `[history]`: how long the history is kept. */
import type { OptionReader } from '../lib/option-reader.ts';

export interface HistorySettings {
  /** Seconds after an item left. Undefined: for ever. */
  readonly keep: number | undefined;
}

export function readHistory(read: OptionReader): HistorySettings {
  return {
    keep: read.string('keep', '') === '' ? undefined : read.duration('keep', { min: 86_400 }, 86_400),
  };
}
