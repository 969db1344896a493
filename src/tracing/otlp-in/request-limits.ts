/** Bounds on what is read and kept of a received trace request. */
export interface RequestLimits {
  /** Size of the body after decompression. */
  readonly bodyBytes: number;
  /**
   * Fields of protobuf or values of JSON, at any depth; a request with more is refused. Bounds the time to read one: a body with
   * two bytes a field holds two million fields.
   */
  readonly elements: number;
  /** Per request, valid or not; the rest is rejected unread. */
  readonly spans: number;
  /** Stored size of the spans of a request; the rest is rejected. A resource is stored with each of its spans. */
  readonly storedBytes: number;
  /** Stored size of one span, resource included; a larger one is rejected. */
  readonly spanBytes: number;
  /** Per span, event, link and resource; the rest is dropped and counted. The same holds for the limits below. */
  readonly attributes: number;
  /** Characters of a name; longer ones are cut, keys dropped. */
  readonly nameLength: number;
  /** Characters of a value; longer ones are cut. */
  readonly textLength: number;
  /** Values of a list. */
  readonly listLength: number;
  readonly events: number;
  readonly links: number;
}

/** An SDK's defaults (512 spans of at most 128 attributes) fit well. */
export const REQUEST_LIMITS: RequestLimits = {
  bodyBytes: 4 * 1024 * 1024,
  elements: 300_000,
  spans: 10_000,
  storedBytes: 8 * 1024 * 1024,
  spanBytes: 64 * 1024,
  attributes: 128,
  nameLength: 256,
  textLength: 4096,
  listLength: 128,
  events: 128,
  links: 128,
};
