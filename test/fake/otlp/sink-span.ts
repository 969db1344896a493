/** A span as it arrived, over either protocol. */
export type SinkValue = string | number | boolean | readonly SinkValue[];
export type SinkAttributes = { readonly [name: string]: SinkValue };

export interface SinkSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string | null;
  readonly name: string;
  /** OTLP's: 1 internal, 2 server, 3 client, 4 producer, 5 consumer. */
  readonly kind: number;
  readonly start: bigint;
  readonly end: bigint;
  readonly attributes: SinkAttributes;
  readonly events: readonly {
    readonly at: bigint;
    readonly name: string;
    readonly attributes: SinkAttributes;
  }[];
  readonly links: readonly {
    readonly traceId: string;
    readonly spanId: string;
    readonly attributes: SinkAttributes;
  }[];
  /** 0 unset, 1 ok, 2 error. */
  readonly status: { readonly code: number; readonly message: string };
  readonly flags: number;
  /** Empty: none. */
  readonly traceState: string;
  /** What the sender says it left out, all kinds together. */
  readonly dropped: number;
  readonly resource: SinkAttributes;
  readonly scope: string;
}
