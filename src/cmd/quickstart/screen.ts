/** A region at the bottom of a terminal that is drawn again and again; on anything else, plain lines. */
export interface Screen {
  readonly live: boolean;
  readonly width: number;
  readonly colour: boolean;
  /** Writes above the frame. */
  line(text: string): void;
  /** Replaces the frame. */
  frame(lines: readonly string[]): void;
  /** Leaves the frame as it is and goes on below it. */
  keep(): void;
}

export function createScreen(out: NodeJS.WriteStream): Screen {
  const live = out.isTTY === true;
  let drawn: readonly string[] = [];
  const clear = () => (drawn.length === 0 ? '' : `\u001b[${drawn.length}A\u001b[J`);
  return {
    live,
    width: out.columns ?? 100,
    colour: live && process.env.NO_COLOR === undefined,
    line(text) {
      out.write(live ? `${clear()}${text}\n${drawn.map(each => `${each}\n`).join('')}` : `${text}\n`);
    },
    frame(lines) {
      if (!live) return;
      out.write(`${clear()}${lines.map(each => `${each}\n`).join('')}`);
      drawn = lines;
    },
    keep() {
      drawn = [];
    },
  };
}
