/** A host does not serve a read: thrown where the contract has no other way to say so, and tried again by the caller. */
import type { HostLater } from './host-later.ts';

/** Says nothing about a change. */
export class HostAway extends Error {
  override readonly name = 'HostAway';
  readonly fault = 'remote';
  readonly retryable = true;
  readonly reason: HostLater['reason'];

  constructor({ reason, text }: Pick<HostLater, 'reason' | 'text'>) {
    super(text);
    this.reason = reason;
  }
}
