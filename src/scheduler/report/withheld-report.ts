/** What a report would have been, of a tenant in shadow mode: for the item's record, and so for its page and its explanation. */
import { LONGEST_WITHHELD } from '../../model/queue-item.ts';
import type { ReportIntent } from '../../model/report-intent.ts';
import type { PartOutcome } from './part-record.ts';

/** Characters of the settings of one reporter. */
const LONGEST_SETTINGS = 300;

/** Its text is a clause, e.g. `would have landed the change, with {"merge":true}`. */
export function withheldOutcome(
  intent: Pick<ReportIntent, 'message' | 'parts'>,
  { merges, config }: ReportIntent['parts'][number],
): Extract<PartOutcome, { readonly kind: 'withheld' }> {
  const settings = JSON.stringify(config).slice(0, LONGEST_SETTINGS);
  return {
    ...{ kind: 'withheld', lands: intent.parts.some(part => part.merges) },
    message: intent.message.slice(0, LONGEST_WITHHELD),
    text: `would have ${merges ? 'landed the change' : 'reported'}, with ${settings}`,
  };
}
