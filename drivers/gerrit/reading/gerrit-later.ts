/** An answer of Gerrit without data, as the reason to ask again later. */
import type { HostLater } from '../../../src/driver/host-later.ts';
import type { GerritAnswer } from '../api/port.ts';

/** Says nothing about a change; a refusal is missing access. @param what was asked for, e.g. `change 12`. */
export function gerritLater(answer: Exclude<GerritAnswer<unknown>, { kind: 'ok' }>, what: string): HostLater {
  return answer.kind === 'refused'
    ? { reason: 'denied', text: `${what}: ${answer.text.split('\n', 1)[0] ?? ''}` }
    : answer.later;
}

/** Gerrit has the change, and no reading of it can be had, however often it is asked. */
export function isUnreadable(answer: GerritAnswer<unknown>): boolean {
  return answer.kind === 'refused' && answer.status !== 401 && answer.status !== 403;
}
