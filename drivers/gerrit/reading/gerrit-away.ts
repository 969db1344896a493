/** Gerrit does not serve a read: as an answer, or thrown where the contract has no other way to say so. It says nothing about a change. */
import type { HostLater } from '../../../src/driver/host-later.ts';
import type { GerritAnswer } from '../api/port.ts';

/** Tried again by the caller. */
export class GerritAway extends Error {
  readonly retryable = true;
  readonly reason: HostLater['reason'];

  constructor({ reason, text }: HostLater) {
    super(text);
    this.reason = reason;
  }
}

/** Of an answer without data: a refusal is missing access. @param what was asked for, e.g. `change 12`. */
export function gerritLater(answer: Exclude<GerritAnswer<unknown>, { kind: 'ok' }>, what: string): HostLater {
  return answer.kind === 'refused'
    ? { reason: 'denied', text: `${what}: ${answer.text.split('\n', 1)[0] ?? ''}` }
    : answer.later;
}
