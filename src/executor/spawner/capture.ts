import type { Readable } from 'node:stream';

/** Keeps the last bytes of a process's output: errors are at the end. */
export interface Tail {
  /** Returns at the end of the stream. Two streams may be read side by side. */
  read(stream: Readable): Promise<void>;
  text(): string;
  /** Bytes kept. */
  bytes(): number;
}

/** @param limit bytes kept of all streams together. */
export function createTail(limit: number): Tail {
  let kept = Buffer.alloc(0);
  return {
    async read(stream) {
      for await (const chunk of stream) {
        kept = Buffer.concat([kept, chunk]);
        if (kept.length > limit) kept = kept.subarray(kept.length - limit);
      }
    },
    text: () => kept.toString(),
    bytes: () => kept.length,
  };
}
