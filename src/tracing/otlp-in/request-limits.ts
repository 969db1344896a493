/** How much of what others send we are willing to read and keep. */
export interface RequestLimits {
  /** Of the body once it is unpacked. */
  readonly bodyBytes: number;
  /** Per request; the rest is rejected. */
  readonly spans: number;
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
  spans: 10_000,
  spanBytes: 64 * 1024,
  attributes: 128,
  nameLength: 256,
  textLength: 4096,
  listLength: 128,
  events: 128,
  links: 128,
};
