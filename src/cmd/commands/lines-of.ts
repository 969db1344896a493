/** Lines of a stream, without their ends; holds one piece and one line at a time. What follows the last end is a line, too, unless empty. */
export async function* linesOf(
  pieces: AsyncIterable<Uint8Array | string> | Iterable<Uint8Array | string>,
): AsyncGenerator<string, void, undefined> {
  const decoder = new TextDecoder('utf-8', { fatal: false });
  let begun: string[] = [];
  for await (const piece of pieces) {
    const text = typeof piece === 'string' ? piece : decoder.decode(piece, { stream: true });
    const [first = '', ...others] = text.split('\n');
    begun.push(first);
    for (const next of others) {
      yield begun.join('');
      begun = [next];
    }
  }
  const rest = begun.join('') + decoder.decode();
  if (rest !== '') yield rest;
}
