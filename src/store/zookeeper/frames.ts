/**
 * Splits the bytes from a socket into frames: four bytes of length, then that many bytes.
 *
 * Takes time in proportion to the bytes, even when a large frame arrives in thousands of chunks (the package's own parser
 * joins and copies everything again with each chunk).
 */

/** No answer to our requests comes near this; a larger length is not the protocol. */
const MAX_FRAME_BYTES = 256 * 1024 * 1024;

/** One per connection: what is left of a frame must not reach the next. */
export class FrameSplitter {
  #chunks: Buffer[] = [];
  #length = 0;
  /** Bytes that must have arrived before parsing again is useful. */
  #wanted = 4;

  /**
   * @returns the complete frames, without their length; they share memory with `chunk`.
   * @throws RangeError when this is not ZooKeeper's protocol.
   */
  push(chunk: Buffer): readonly Buffer[] {
    this.#chunks.push(chunk);
    this.#length += chunk.byteLength;
    if (this.#length < this.#wanted) return [];
    return this.#split(this.#chunks.length === 1 ? chunk : Buffer.concat(this.#chunks, this.#length));
  }

  #split(bytes: Buffer): readonly Buffer[] {
    const frames: Buffer[] = [];
    let at = 0;
    this.#wanted = 4;
    while (bytes.byteLength - at >= 4) {
      const length = bytes.readInt32BE(at);
      if (length < 0 || length > MAX_FRAME_BYTES) throw new RangeError(`a frame of ${length} bytes`);
      if (bytes.byteLength - at - 4 < length) {
        this.#wanted = 4 + length;
        break;
      }
      frames.push(bytes.subarray(at + 4, at + 4 + length));
      at += 4 + length;
    }
    const rest = bytes.subarray(at);
    this.#chunks = rest.byteLength === 0 ? [] : [rest];
    this.#length = rest.byteLength;
    return frames;
  }
}
