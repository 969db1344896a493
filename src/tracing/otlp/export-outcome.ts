/** Outcome of one request to the collector; the sender decides what to do. */

/** Named by what happens next: the spans are done, sent again, sent in halves, or counted as lost. Texts are safe for logs and pages. */
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

/** Why spans will never arrive. A key of `SenderHealth.lost` and a label of the metric: renaming one breaks alerts. */
export type LossReason =
  /** The collector will not take the request, or redirects it; a retry would not help. */
  | 'refused'
  /** Spans that a partial success left out. */
  | 'rejected'
  /** HTTP 401 or 403, and their gRPC equivalents: headers or certificates are wrong. */
  | 'unauthenticated'
  /** One span alone is over the limit. */
  | 'too-large'
  /** gRPC RESOURCE_EXHAUSTED without a time to try again. */
  | 'exhausted'
  /** A row of the outbox cannot be decoded; it counts as one span. */
  | 'unreadable';
