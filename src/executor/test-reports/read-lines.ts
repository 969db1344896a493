/** Pieces of text as whole lines; of a line that is too long only the beginning is kept. */
const LONGEST = 65_536;

/** @param onLine gets each line without its end. */
export function lineReader(onLine: (line: string) => void): {
  write(text: string): void;
  end(): void;
} {
  let rest = '';
  return {
    write(text) {
      let from = 0;
      for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', from)) {
        onLine((rest + text.slice(from, at)).slice(0, LONGEST).replace(/\r$/, ''));
        rest = '';
        from = at + 1;
      }
      if (rest.length < LONGEST) rest += text.slice(from, from + LONGEST);
    },
    end() {
      if (rest !== '') onLine(rest.slice(0, LONGEST));
      rest = '';
    },
  };
}
