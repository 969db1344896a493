/** Lines of a stream, without newlines; buffers one chunk and one line. A non-empty rest without a newline is a line, too. */
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
