/** How much of what others send we are willing to read and keep. */
export interface RequestLimits {
  /** Of the body once it is unpacked. */
  readonly bodyBytes: number;
  /**
   * Fields of protobuf, values of JSON, at whatever depth; a request of more is refused. Bounds the time it takes to read one:
   * a body of two bytes a field holds two million of them.
   */
  readonly elements: number;
  /** Per request, good and bad ones; the rest is rejected unread. */
  readonly spans: number;
  /** Per request, of its spans as they are stored; the rest is rejected. A resource is stored with each of its spans. */
  readonly storedBytes: number;
  /** Of one span as it is stored, its resource included; a larger one is rejected. */
  readonly spanBytes: number;
  /** Per span, event, link and resource; the rest is dropped and counted, like all below. */
  readonly attributes: number;
  /** Characters of a name; longer ones are cut, keys dropped. */
  readonly nameLength: number;
  /** Characters of a value; longer ones are cut. */
  readonly textLength: number;
  readonly listLength: number;
  readonly events: number;
  readonly links: number;
}

/** What an SDK sends by default (512 spans of at most 128 attributes) fits well. */
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
