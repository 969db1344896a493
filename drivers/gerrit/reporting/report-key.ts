/**
 * The last line of our messages, by which a repetition finds them. Pure.
 *
 *     Gatehouse: acme/gate success 4f0c0000000000000000000000000001
 *     Gatehouse: acme/gate no-jobs refused 9c1185a5c5e9fc54          nothing was enqueued: the text stands for the item
 */
import { createHash } from 'node:crypto';
import type { Report } from '../../../src/model/report.ts';

/** Of one report. It is the same in every try. */
export function reviewKey({ place, action, item, text }: Report): string {
  const which = item ?? `refused ${digestOf(text)}`;
  return `Gatehouse: ${place.tenant}/${place.pipeline} ${action} ${which}`;
}

/** Of an answer to a question. */
export function answerKey(text: string): string {
  return `Gatehouse: answer ${digestOf(text)}`;
}

/** The pipeline whose report the message is; null: it is an answer; undefined: it has no key of ours. */
export function pipelineOfMessage(message: string): string | null | undefined {
  const lastLine = message.trimEnd().split('\n').at(-1) ?? '';
  if (/^Gatehouse: answer [0-9a-f]{16}$/.test(lastLine)) return null;
  return /^Gatehouse: [^/]+\/(.+?) \S+ (?:refused )?[0-9a-f-]{16,}$/.exec(lastLine)?.[1];
}

/** Whether a message of the history is the one with this key. */
export function endsWithKey(message: string, key: string): boolean {
  const lastLine = message.trimEnd().split('\n').at(-1);
  return lastLine === key;
}

function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 16);
}
