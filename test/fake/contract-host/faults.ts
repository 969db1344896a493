/** What goes wrong at the fake host, by script: nothing happens by chance, and nothing waits for time to pass. */
import type { Nanoseconds } from '../../../src/lib/clock.ts';

/** Calls of the host's API. */
export type Call = 'read' | 'topic' | 'merge' | 'comment';

export interface Delivery {
  readonly id: string;
  readonly project: string;
  /** Of the write that it is about: a read that shows less is behind. */
  readonly sequence: number;
}

/** The host did not do it; `lost`: it did, and the answer was lost. */
export class HostError extends Error {
  readonly status: 403 | 405 | 409 | 422 | 429 | 503 | 'lost';
  /** With 403 and 429: when the caller may come again. */
  readonly until: Nanoseconds | undefined;

  constructor(status: HostError['status'], text: string, until?: Nanoseconds) {
    super(text);
    this.status = status;
    this.until = until;
  }
}

export class Faults {
  /** Reads after each write that still show what was before it. */
  lag = 0;
  /** What becomes of a delivery: lost (empty), doubled, held back. */
  deliver: (delivery: Delivery) => readonly Delivery[] = delivery => [delivery];
  /** Called before each merge is made: others push at the worst moment. */
  beforeMerge: () => Promise<void> = async () => {};
  readonly #failures: { readonly call: Call; readonly error: () => HostError; times: number }[] = [];
  #lost = 0;

  /** The next calls of a kind are refused. @param times infinite until {@link heal}. */
  fail(call: Call, error: () => HostError, times = Number.POSITIVE_INFINITY): void {
    this.#failures.push({ call, error, times });
  }

  heal(): void {
    this.#failures.length = 0;
  }

  /** The next merge is made, and its answer is lost. */
  loseReply(): void {
    this.#lost += 1;
  }

  /** @throws HostError as scripted. */
  begin(call: Call): void {
    const failure = this.#failures.find(each => each.call === call && each.times > 0);
    if (failure === undefined) return;
    failure.times -= 1;
    throw failure.error();
  }

  /** @throws HostError when this answer is to be lost. */
  end(): void {
    if (this.#lost === 0) return;
    this.#lost -= 1;
    throw new HostError('lost', 'the connection was reset');
  }
}
