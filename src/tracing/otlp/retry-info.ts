/**
 * The wait a collector asks for: `google.rpc.RetryInfo` inside the `grpc-status-details-bin` trailer.
 *
 *     Status { details: [ Any { type_url: ".../google.rpc.RetryInfo", value: RetryInfo { retry_delay: Duration } } ] }
 */
import { utf8, wireFields } from './wire.ts';

/** Milliseconds; undefined without RetryInfo or when the trailer cannot be read. */
export function retryDelayOf(statusDetails: Uint8Array): number | undefined {
  try {
    for (const detail of submessages(statusDetails, 3)) {
      const type = submessages(detail, 1)[0];
      if (type === undefined || !utf8(type).endsWith('/google.rpc.RetryInfo')) continue;
      const value = submessages(detail, 2)[0] ?? new Uint8Array();
      return durationMs(submessages(value, 1)[0] ?? new Uint8Array());
    }
  } catch (error) {
    // The status code counts even if the trailer cannot be read.
    if (!(error instanceof RangeError)) throw error;
  }
  return undefined;
}

function submessages(message: Uint8Array, number: number): readonly Uint8Array[] {
  return [...wireFields(message)].flatMap(field =>
    field.number === number && field.bytes !== undefined ? [field.bytes] : [],
  );
}

function durationMs(duration: Uint8Array): number {
  let ms = 0;
  for (const field of wireFields(duration)) {
    if (field.number === 1) ms += Number(field.value) * 1000;
    if (field.number === 2) ms += Number(field.value) / 1e6;
  }
  return ms;
}
