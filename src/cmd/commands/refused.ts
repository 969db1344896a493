/** An expected failure: one line for a person. */
export interface Refused {
  readonly kind: 'refused';
  readonly text: string;
}

/** @param text the problem and what to do; the caller prints `error: ` before it. */
export function refused(text: string): Refused {
  return { kind: 'refused', text };
}
