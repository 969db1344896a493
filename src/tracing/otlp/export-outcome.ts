/** What became of one request to the collector; what to do about it is the sender's business. */

export type ExportOutcome =
  /** @property refused what the collector said it left out or complains about, or undefined. */
  | { readonly kind: 'delivered'; readonly refused: PartialSuccess | undefined }
  /** @property afterMs what the collector asked for; undefined: as the sender likes. */
  | { readonly kind: 'again'; readonly afterMs: number | undefined; readonly text: string }
  | { readonly kind: 'too-large'; readonly text: string }
  | { readonly kind: 'lost'; readonly reason: LossReason; readonly text: string };

/** A partial success: never sent again. */
export interface PartialSuccess {
  /** 0: all were taken, with a warning. */
  readonly spans: number;
  readonly text: string;
}

export type LossReason =
  | 'refused'
  /** Of a request that was taken in part. */
  | 'rejected'
  | 'unauthenticated'
  | 'too-large'
  | 'exhausted'
  | 'unreadable';
