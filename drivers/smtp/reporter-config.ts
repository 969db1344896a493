/** `success: {outgoing: {to: you@example.org, subject: 'Change {change} failed'}}`: Zuul's reporter. */
import type { ParseResult } from '../../src/driver/parse-result.ts';
import { readMapping } from '../../src/driver/read-mapping.ts';
import { parseFormat } from '../../src/lib/format-text.ts';
import type { Json } from '../../src/model/job.ts';
import { ITEM_FIELDS } from '../../src/model/message-fields.ts';
import { addressesOf, addressProblem, MOST_RECIPIENTS } from './addresses.ts';

/** What is absent is as the connection says. */
export type MailReporter = { readonly to?: string; readonly from?: string; readonly subject?: string };

const KEYS = ['to', 'from', 'subject'] as const;

export function parseMailReporter(value: Json): ParseResult<MailReporter> {
  const mapping = readMapping(value, KEYS, 'a reporter of an smtp connection');
  const single = (key: (typeof KEYS)[number]) => {
    const found = mapping.strings(key);
    if (found.length > 1)
      mapping.refuse([key], 'wrong-type', `"${key}" of a mail must be one text; commas separate recipients`);
    return found[0];
  };
  const [to, from, subject] = [single('to'), single('from'), single('subject')];
  for (const [key, text] of [
    ['to', to],
    ['from', from],
  ] as const) {
    const problem = text === undefined ? undefined : addressesProblem(key, text);
    if (problem !== undefined) mapping.refuse([key], 'invalid-address', `"${key}": ${problem}`);
  }
  const format = subject === undefined ? undefined : parseFormat(subject, ITEM_FIELDS);
  if (format?.kind === 'invalid')
    mapping.refuse(['subject'], 'invalid-message', `"subject": ${format.reason}`);
  return mapping.result({
    ...(to === undefined ? {} : { to }),
    ...(from === undefined ? {} : { from }),
    ...(subject === undefined ? {} : { subject }),
  });
}

/** Of `to`, a list separated by commas; of `from`, one address. */
export function addressesProblem(key: 'to' | 'from', text: string): string | undefined {
  const all = addressesOf(text);
  if (all.length === 0) return 'names no address';
  if (key === 'from' && all.length > 1) return 'names more than one sender';
  if (all.length > MOST_RECIPIENTS) return `names more than ${MOST_RECIPIENTS} recipients`;
  return all.map(addressProblem).find(problem => problem !== undefined);
}
