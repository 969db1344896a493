/** A text of a job as one line that controls no terminal, cut. */
export function shownText(text: string, most: number): string {
  // The part that is looked at is bounded before anything is replaced in it.
  const some = text.slice(0, 4 * most);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is taken out
  const plain = some.replace(/[\u0000-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069\s]+/g, ' ').trim();
  return [...plain.toWellFormed()].slice(0, most).join('');
}
