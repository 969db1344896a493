/** `[history]`: how long the history is kept. */
import type { OptionReader } from '../lib/option-reader.ts';

/** How long finished items stay in the history; `prune-history.ts` deletes older ones. */
export interface HistorySettings {
  /** Seconds after an item left. Undefined: for ever. */
  readonly keep: number | undefined;
}

/** An empty `keep` counts as absent. Less than a day is refused. */
export function readHistory(read: OptionReader): HistorySettings {
  return {
    keep: read.string('keep', '') === '' ? undefined : read.duration('keep', { min: 86_400 }, 86_400),
  };
}
