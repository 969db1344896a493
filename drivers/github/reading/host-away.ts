/** GitHub does not serve a read: thrown where the contract has no other way to say so, and tried again by the caller. */
import type { HostLater } from '../../../src/driver/host-later.ts';

/** Says nothing about a change. */
export class GithubAway extends Error {
  readonly retryable = true;
  readonly reason: HostLater['reason'];

  constructor({ reason, text }: HostLater) {
    super(text);
    this.reason = reason;
  }
}
