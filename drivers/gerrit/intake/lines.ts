/** Lines of a stream whose pieces end anywhere, within a bound. */

/** Keeps the unfinished line between pieces. */
export interface EventLines {
  /** @returns complete lines without their ends, empty ones left out, and how many were given up because they are too long. */
  push(piece: Uint8Array): { readonly lines: readonly string[]; readonly tooLong: number };
}

const NEWLINE = 0x0a;

/** @param longest bytes of a line; of a longer one nothing is kept. Bytes that are not UTF-8 become U+FFFD. */
export function createEventLines(longest: number): EventLines {
  let kept: Uint8Array[] = [];
  let size = 0;
  let isGivenUp = false;

  function take(part: Uint8Array): void {
    size += part.length;
    if (size > longest) {
      isGivenUp = true;
      kept = [];
    } else if (!isGivenUp && part.length > 0) kept.push(part);
  }

  return {
    push(piece) {
      const lines: string[] = [];
      let tooLong = 0;
      let start = 0;
      for (let end = piece.indexOf(NEWLINE); end >= 0; end = piece.indexOf(NEWLINE, start)) {
        take(piece.subarray(start, end));
        if (isGivenUp) tooLong += 1;
        else if (size > 0) lines.push(Buffer.concat(kept).toString('utf8').trimEnd());
        kept = [];
        size = 0;
        isGivenUp = false;
        start = end + 1;
      }
      take(piece.subarray(start));
      return { lines: lines.filter(line => line !== ''), tooLong };
    },
  };
}
