/** Answers questions that people ask at the code host. */
import type { Change } from '../model/change.ts';
import type { HostLater } from './host-later.ts';
import type { HostSteps } from './host-steps.ts';

/** The answer to one question, or to several that were asked meanwhile. */
export interface AnswerRequest {
  readonly change: Change;
  /** Who asked last, as the host names them. */
  readonly by: string;
  /** Lines for a fixed-width font, without control characters. Contents of changes are among them. */
  readonly text: string;
}

/** `done`: the host has the answer. */
export type AnswerOutcome = HostSteps &
  (
    | { readonly kind: 'done' }
    | ({ readonly kind: 'later' } & HostLater)
    /** The host refuses it for good; `text` says why. */
    | { readonly kind: 'failed'; readonly text: string }
  );

/** The capability to answer. Runs in the scheduler that holds the connection, one answer at a time. */
export interface Answerer {
  /**
   * Repeatable: an answer takes the place of the one before, which the driver finds again at the host.
   *
   * @param mayAct to be called directly before each write; see {@link import('./reporter.ts').Reporter.report}.
   * @throws an error with `retryable: true`, which counts as `later`.
   */
  answer(request: AnswerRequest, signal: AbortSignal, mayAct: () => boolean): Promise<AnswerOutcome>;
}
