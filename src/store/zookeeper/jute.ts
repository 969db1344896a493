/**
 * Jute, ZooKeeper's record encoding: big-endian integers, strings and byte arrays behind their length (−1 for null),
 * lists behind their count. No names, no tags: reader and writer must agree.
 */

/** Each method appends one field and returns the writer; call them in the order of the record. */
export class JuteWriter {
  #bytes: Buffer;
  #length = 0;

  /** @param capacity initial bytes; grows when needed. */
  constructor(capacity: number) {
    this.#bytes = Buffer.allocUnsafe(capacity);
  }

  int(value: number): this {
    this.#reserve(4);
    this.#length = this.#bytes.writeInt32BE(value, this.#length);
    return this;
  }

  long(value: bigint): this {
    this.#reserve(8);
    this.#length = this.#bytes.writeBigInt64BE(value, this.#length);
    return this;
  }

  bool(value: boolean): this {
    this.#reserve(1);
    this.#length = this.#bytes.writeUInt8(value ? 1 : 0, this.#length);
    return this;
  }

  string(text: string): this {
    // A UTF-16 unit takes at most 3 bytes: the exact count is only worth it where that does not fit.
    if (this.#length + 4 + text.length * 3 > this.#bytes.byteLength)
      this.#reserve(4 + Buffer.byteLength(text));
    const length = this.#bytes.write(text, this.#length + 4, 'utf8');
    this.#bytes.writeInt32BE(length, this.#length);
    this.#length += 4 + length;
    return this;
  }

  /** Copies the bytes. */
  bytes(data: Uint8Array): this {
    this.#reserve(4 + data.byteLength);
    this.#bytes.writeInt32BE(data.byteLength, this.#length);
    this.#bytes.set(data, this.#length + 4);
    this.#length += 4 + data.byteLength;
    return this;
  }

  strings(texts: readonly string[]): this {
    this.int(texts.length);
    for (const text of texts) this.string(text);
    return this;
  }

  /** The written bytes, without a copy: the writer must not be used afterwards. */
  finish(): Buffer {
    return this.#bytes.subarray(0, this.#length);
  }

  #reserve(more: number): void {
    const needed = this.#length + more;
    if (needed <= this.#bytes.byteLength) return;
    const grown = Buffer.allocUnsafe(Math.max(needed, this.#bytes.byteLength * 2));
    this.#bytes.copy(grown, 0, 0, this.#length);
    this.#bytes = grown;
  }
}

/** Reads past the end throw RangeError: the frame is malformed. */
export class JuteReader {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  get atEnd(): boolean {
    return this.#at >= this.#bytes.byteLength;
  }

  int(): number {
    const value = this.#bytes.readInt32BE(this.#at);
    this.#at += 4;
    return value;
  }

  long(): bigint {
    const value = this.#bytes.readBigInt64BE(this.#at);
    this.#at += 8;
    return value;
  }

  bool(): boolean {
    const value = this.#bytes.readUInt8(this.#at);
    this.#at += 1;
    return value !== 0;
  }

  string(): string {
    const length = this.#lengthHere();
    const text = this.#bytes.toString('utf8', this.#at, this.#at + length);
    this.#at += length;
    return text;
  }

  /** A copy: frames share their memory with their neighbours. Null reads as no bytes. */
  bytes(): Uint8Array {
    const length = this.#lengthHere();
    const copy = new Uint8Array(this.#bytes.subarray(this.#at, this.#at + length));
    this.#at += length;
    return copy;
  }

  strings(): string[] {
    const count = this.int();
    const texts: string[] = [];
    for (let i = 0; i < count; i++) texts.push(this.string());
    return texts;
  }

  #lengthHere(): number {
    const length = Math.max(0, this.int());
    if (this.#at + length > this.#bytes.byteLength)
      throw new RangeError(`a field of ${length} bytes at ${this.#at} ends behind its frame`);
    return length;
  }
}
