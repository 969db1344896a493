/** A driver's answer to a question about a change. */
export interface Verdict {
  readonly met: boolean;
  /** One English clause: what matched, or the first condition that did not. */
  readonly text: string;
}
