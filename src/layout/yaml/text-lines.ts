/** A place as editors show it; columns count UTF-16 units. */
export interface LineColumn {
  /** From 1. */
  readonly line: number;
  /** From 1. */
  readonly column: number;
}

/** Offset → line and column; the table of lines is built on first use. */
export function positions(text: string): (offset: number) => LineColumn {
  let starts: number[] | undefined;
  return offset => {
    starts ??= lineStarts(text);
    let low = 0;
    let high = starts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((starts[middle] ?? 0) <= offset) low = middle;
      else high = middle - 1;
    }
    return { line: low + 1, column: offset - (starts[low] ?? 0) + 1 };
  };
}

/** @param line from 0. */
export function lineAt(text: string, line: number): string {
  const starts = lineStarts(text);
  return text.slice(starts[line] ?? text.length, starts[line + 1]).trimEnd();
}

function lineStarts(text: string): number[] {
  const starts = [0];
  for (const match of text.matchAll(/\r\n|\n|\r/g)) starts.push(match.index + match[0].length);
  return starts;
}
