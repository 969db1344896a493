/** Colours for terminals, or none. */
export type Colour = 'red' | 'green' | 'yellow' | 'blue' | 'magenta' | 'cyan' | 'dim' | 'bold';

const CODES: { readonly [colour in Colour]: number } = {
  bold: 1,
  dim: 2,
  red: 31,
  green: 32,
  yellow: 33,
  blue: 34,
  magenta: 35,
  cyan: 36,
};

/** Paints a text; returns it unchanged when `enabled` is false or there is nothing to paint. */
export type Paint = (text: string, ...colours: readonly Colour[]) => string;

/** @param enabled whether the output takes colours; false returns every text as it is. */
export function painter(enabled: boolean): Paint {
  if (!enabled) return text => text;
  return (text, ...colours) =>
    text === '' || colours.length === 0
      ? text
      : `\u001b[${colours.map(colour => CODES[colour]).join(';')}m${text}\u001b[0m`;
}
