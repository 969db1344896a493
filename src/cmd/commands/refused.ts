/** An expected failure: one line for a person. */
export interface Refused {
  readonly kind: 'refused';
  readonly text: string;
}

export function refused(text: string): Refused {
  return { kind: 'refused', text };
}
