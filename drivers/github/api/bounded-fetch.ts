/** A `fetch` that reads at most so many bytes of an answer: a host, or a proxy before it, may send any amount. */

/** The answer was longer than its bound; the rest was not read. */
export class AnswerTooLarge extends Error {
  override readonly name = 'AnswerTooLarge';
  constructor(mostBytes: number) {
    super(`the answer has more than ${mostBytes} bytes`);
  }
}

/** Statuses that come without a body, as `Response` demands. */
const BODILESS: ReadonlySet<number> = new Set([101, 204, 205, 304]);

/** Resolves after the whole body has come, so that the caller's deadline covers it. @throws AnswerTooLarge, and as `fetch`. */
export function boundedFetch(mostBytes: number): typeof fetch {
  return async (input, init) => {
    const answer = await fetch(input, init);
    const { status, statusText, headers } = answer;
    const body = await readAtMost(answer.body, mostBytes);
    return new Response(BODILESS.has(status) ? null : body, { status, statusText, headers });
  };
}

async function readAtMost(
  body: ReadableStream<Uint8Array> | null,
  most: number,
): Promise<Uint8Array<ArrayBuffer>> {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  // Leaving the loop cancels the stream, which closes the socket.
  for await (const part of body ?? []) {
    bytes += part.byteLength;
    if (bytes > most) throw new AnswerTooLarge(most);
    parts.push(part);
  }
  return new Uint8Array(Buffer.concat(parts));
}
