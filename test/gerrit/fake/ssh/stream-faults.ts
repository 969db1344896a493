/** What a stream does to its lines: doubles them, swaps them, cuts them in pieces, keeps them for a while. */

export interface StreamFaults {
  /** The next `count` lines are sent twice. */
  double(count: number): void;
  /** The next line is sent behind the one after it. */
  swap(): void;
  /** Each line is written in two pieces, the second with the next line, or by {@link StreamFaults.whole}. */
  halve(): void;
  /** Ends {@link StreamFaults.halve}: what is held back is written. */
  whole(): void;
  /** From now on lines are kept. @returns what writes them, and ends that */
  hold(): () => void;
}

/** @param write gets pieces of the stream. */
export function createStreamFaults(write: (piece: string) => void): {
  readonly faults: StreamFaults;
  readonly send: (line: string) => void;
} {
  let doubled = 0;
  let isSwapping = false;
  let isHalving = false;
  let swapped: string | undefined;
  let rest = '';
  let held: string[] | undefined;

  function put(line: string): void {
    const text = `${rest}${line}\n`;
    rest = '';
    const middle = isHalving ? text.length - Math.ceil((line.length + 1) / 2) : text.length;
    rest = text.slice(middle);
    write(text.slice(0, middle));
  }

  function send(line: string): void {
    if (held !== undefined) {
      held.push(line);
      return;
    }
    if (isSwapping && swapped === undefined) {
      swapped = line;
      return;
    }
    put(line);
    if (doubled > 0) {
      doubled -= 1;
      put(line);
    }
    if (swapped === undefined) return;
    put(swapped);
    swapped = undefined;
    isSwapping = false;
  }

  return {
    send,
    faults: {
      double: count => {
        doubled = count;
      },
      swap: () => {
        isSwapping = true;
      },
      halve: () => {
        isHalving = true;
      },
      whole: () => {
        isHalving = false;
        if (rest !== '') write(rest);
        rest = '';
      },
      hold: () => {
        held = [];
        return () => {
          const lines = held ?? [];
          held = undefined;
          for (const line of lines) send(line);
        };
      },
    },
  };
}
