/** What a landing throws when the host could not be asked, or did not say what came of it. */
import type { Step } from '../model/step.ts';
import type { HostLater } from './host-later.ts';
import type { LandingOutcome } from './landing.ts';

/** Why, as the trace and the page show it. */
export type LandingTrouble = Pick<HostLater, 'reason' | 'text'>;

/** A landing was sent, or may have been, and what came of it is not known: ask before it is sent again. */
export class LandingUnsettled extends Error {
  override readonly name = 'LandingUnsettled';
  readonly fault = 'remote';
  readonly retryable = true;
  readonly unsettled = true;
  readonly trouble: LandingTrouble;
  readonly reason: HostLater['reason'];
  readonly steps: readonly Step[];
  /** @param steps requests so far, for the trace. */
  constructor(trouble: LandingTrouble, steps: readonly Step[] = []) {
    super(trouble.text);
    this.trouble = trouble;
    this.reason = trouble.reason;
    this.steps = steps;
  }
}

/** The host could not be asked; nothing was sent. */
export class LandingUnread extends Error {
  override readonly name = 'LandingUnread';
  readonly fault = 'remote';
  readonly retryable = true;
  readonly trouble: LandingTrouble;
  readonly reason: HostLater['reason'];
  constructor(trouble: LandingTrouble) {
    super(trouble.text);
    this.trouble = trouble;
    this.reason = trouble.reason;
  }
}

/**
 * Runs a landing. Its outcome has the requests to the host with it, an error as well.
 *
 * @param steps filled while it runs.
 * @throws LandingUnsettled with the steps; what else `land` throws. {@link LandingUnread} becomes `later`.
 */
export async function settleLanding(
  steps: readonly Step[],
  land: () => Promise<LandingOutcome>,
): Promise<LandingOutcome> {
  try {
    return { ...(await land()), ...(steps.length === 0 ? {} : { steps }) };
  } catch (error) {
    if (error instanceof LandingUnsettled) throw new LandingUnsettled(error.trouble, steps);
    if (!(error instanceof LandingUnread)) throw error;
    return { kind: 'later', ...error.trouble, steps };
  }
}
