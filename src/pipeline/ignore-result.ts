/** An answer nobody waits for any more: it counts for nothing, and a decision says so. */
import type { Uuid } from '../lib/ids.ts';
import { aboutItem } from '../model/about-item.ts';
import type { QueueItem } from '../model/queue-item.ts';
import type { TurnDraft } from './turn-draft.ts';

export function ignoreResult(draft: TurnDraft, item: QueueItem, event: Uuid, text: string): void {
  draft.decide('result-ignored', aboutItem(item, event), text);
}
