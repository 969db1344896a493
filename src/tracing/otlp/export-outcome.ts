/** Outcome of one request to the collector; the sender decides what to do. */

export type ExportOutcome =
  /** @property refused the collector's partial success or warning, or undefined. */
  | { readonly kind: 'delivered'; readonly refused: PartialSuccess | undefined }
  /** @property afterMs the wait that the collector asked for; undefined: none. */
  | { readonly kind: 'again'; readonly afterMs: number | undefined; readonly text: string }
  | { readonly kind: 'too-large'; readonly text: string }
  | { readonly kind: 'lost'; readonly reason: LossReason; readonly text: string };

/** A partial success: rejected spans are not sent again. */
export interface PartialSuccess {
  /** Number of rejected spans; 0: a warning only. */
  readonly spans: number;
  readonly text: string;
}

export type LossReason =
  | 'refused'
  /** Spans that a partial success left out. */
  | 'rejected'
  | 'unauthenticated'
  | 'too-large'
  | 'exhausted'
  | 'unreadable';
