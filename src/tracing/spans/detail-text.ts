/** The reason of an end as it stands on a span, and in its status: one line, without names and passwords in addresses. */
import { stripUserinfo } from '../../lib/redact.ts';

/** Characters: a reason, not a log. */
const MOST = 300;

export function detailText(text: string): string {
  return stripUserinfo(text.replace(/\s+/g, ' ')).slice(0, MOST);
}
