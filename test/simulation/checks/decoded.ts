/** Records that several checks look at, decoded once: what is written stays the same bytes until it is taken away. */
import type { Codec } from '../../../src/model/codec/record.ts';
import {
  connectionEventCodec,
  pipelineEventCodec,
  spansCodec,
  tenantEventCodec,
} from '../../../src/model/codec/records.ts';

type Reader<T> = (bytes: Uint8Array) => T;

/** A delivery that a connection has queued. */
export const connectionEventOf = once(connectionEventCodec);
/** An entry of a tenant's trigger queue. */
export const tenantEventOf = once(tenantEventCodec);
/** An entry of a pipeline's queue. */
export const pipelineEventOf = once(pipelineEventCodec);
/** A row of the outbox of spans. */
export const spansOf = once(spansCodec);

function once<T extends object>(codec: Codec<T>): Reader<T> {
  const known = new WeakMap<Uint8Array, T>();
  return bytes => {
    const value = known.get(bytes) ?? codec.decode(bytes);
    known.set(bytes, value);
    return value;
  };
}
