/** A driver's answer to a question about a change. */
export interface Verdict {
  readonly met: boolean;
  /** English clause: what matched, or the first thing that did not. */
  readonly text: string;
}
