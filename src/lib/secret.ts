import { inspect } from 'node:util';

/** Shown in place of a secret, everywhere. */
export const MASK = '***';

/**
 * A text that must not be printed. Logging, JSON, template strings and inspection all show `***`; only {@link reveal}
 * gives the text, so that every use can be found by its name.
 */
export class Secret {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  /** The secret itself: for the wire, never for a log, span, error, argument list or environment. */
  reveal(): string {
    return this.#text;
  }

  toString(): string {
    return MASK;
  }

  toJSON(): string {
    return MASK;
  }

  [inspect.custom](): string {
    return MASK;
  }
}
