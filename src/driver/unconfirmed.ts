/** How often a message may be sent that a server has perhaps taken, without saying so. */
import { sha256 } from '../lib/ids.ts';
import type { ReportRequest } from './reporter.ts';

/** In the memory of one process: another process that takes over begins anew. */
export interface Unconfirmed {
  /** Counts one more. @returns whether it may be sent again. */
  mayRepeat(request: ReportRequest): boolean;
  /** It has an outcome. */
  forget(request: ReportRequest): void;
}

/** Times that a message is sent, when no answer comes. */
const MOST_SENT = 3;
const MOST_KEPT = 10_000;

/** Nothing is counted at first. */
export function createUnconfirmed(): Unconfirmed {
  const counts = new Map<string, number>();
  return {
    mayRepeat(request) {
      const key = messageKey(request);
      const sent = (counts.get(key) ?? 0) + 1;
      counts.delete(key);
      counts.set(key, sent);
      const [oldest] = counts.keys();
      if (counts.size > MOST_KEPT && oldest !== undefined) counts.delete(oldest);
      return sent < MOST_SENT;
    },
    forget: request => void counts.delete(messageKey(request)),
  };
}

/** The same for each repetition of a message: receivers may recognise one by it. */
export function messageKey({ config, change, report }: ReportRequest): string {
  const { item, action, place, text, notice } = report;
  const about = item === null ? [change.key, text] : [item];
  const noticed = notice === undefined ? [] : [notice.event, notice.cause];
  const key = [...about, action, ...noticed, place.tenant, place.pipeline, config];
  return sha256(JSON.stringify(key)).slice(0, 32);
}
