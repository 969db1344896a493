/** `failure: {chat: {channel: builds, mention: '@here'}}`: what a reporter of the connection may say. */
import type { ParseResult } from '../../src/driver/parse-result.ts';
import { readMapping } from '../../src/driver/read-mapping.ts';
import type { Json } from '../../src/model/job.ts';

/** Both are for chats: a receiver of JSON has the fields of the report. */
export type WebhookReporter = {
  /** Where the chat shows it, when its webhook may choose. */
  readonly channel?: string;
  /** Comes before the line, as it is. */
  readonly mention?: string;
};

const KEYS = ['channel', 'mention'] as const;
const LONGEST = 200;

export function parseWebhookReporter(value: Json): ParseResult<WebhookReporter> {
  const mapping = readMapping(value, KEYS, 'a reporter of a webhook connection');
  const one = (key: (typeof KEYS)[number]) => {
    const [text, ...more] = mapping.strings(key);
    if (more.length > 0) mapping.refuse([key], 'wrong-type', `"${key}" is one text`);
    if (text !== undefined && text.length > LONGEST)
      mapping.refuse([key], 'out-of-range', `"${key}" has at most ${LONGEST} characters`);
    return text === undefined ? {} : { [key]: text };
  };
  return mapping.result({ ...one('channel'), ...one('mention') });
}
