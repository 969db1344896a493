/** Reads a byte stream by lines and by counts, regardless of its chunks; one read at a time. */
export interface ByteReader {
  /** Bytes up to, not including, the next `stop` byte, which is consumed. */
  until(stop: number): Promise<Buffer>;
  /** Exactly `count` bytes. */
  exactly(count: number): Promise<Buffer>;
}

/** The end that the owner of the stream feeds. What it has read is no longer in memory. */
export interface ByteFeed extends ByteReader {
  push(chunk: Buffer): void;
  /** All present and future reads that the bytes so far cannot serve fail with `error`. */
  fail(error: Error): void;
  /** Bytes received and not yet read. */
  pending(): number;
}

/** @param lineLimit bytes `until` may gather before it fails; a guard against a peer that never ends its line. */
export function createByteFeed(lineLimit = 16 * 1024 * 1024): ByteFeed {
  let chunks: Buffer[] = [];
  let length = 0;
  let failure: Error | undefined;
  let wake: (() => void) | undefined;

  function more(): Promise<void> {
    if (failure !== undefined) return Promise.reject(failure);
    return new Promise(resolve => {
      wake = resolve;
    });
  }

  function take(count: number): Buffer {
    const all = chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks, length);
    const rest = all.subarray(count);
    chunks = rest.length === 0 ? [] : [rest];
    length = rest.length;
    return all.subarray(0, count);
  }

  /** Offset of `stop` in the bytes that have arrived; searches chunks from index `from`. */
  function find(stop: number, from: number): number {
    let offset = 0;
    for (const [index, chunk] of chunks.entries()) {
      const at = index < from ? -1 : chunk.indexOf(stop);
      if (at >= 0) return offset + at;
      offset += chunk.length;
    }
    return -1;
  }

  return {
    pending: () => length,
    push(chunk) {
      chunks.push(chunk);
      length += chunk.length;
      wake?.();
    },
    fail(error) {
      failure ??= error;
      wake?.();
    },
    async until(stop) {
      let searched = 0;
      for (;;) {
        const at = find(stop, searched);
        if (at >= 0) return take(at + 1).subarray(0, at);
        if (length > lineLimit) throw new Error(`a line longer than ${lineLimit} bytes`);
        searched = chunks.length;
        await more();
      }
    },
    async exactly(count) {
      while (length < count) await more();
      return take(count);
    },
  };
}
