import type { IncomingMessage } from 'node:http';

/** `too-large`: answer 413. `broken-off`: the sender has gone, so there is no answer to give. */
export type ReadBody =
  | { readonly kind: 'read'; readonly bytes: Buffer }
  | { readonly kind: 'too-large' }
  | { readonly kind: 'broken-off' };

/** The raw body, if it stays within `limit` bytes. Bytes over the limit are never kept. */
export async function readBody(request: IncomingMessage, limit: number): Promise<ReadBody> {
  const announced = Number(request.headers['content-length'] ?? 0);
  if (announced > limit) return { kind: 'too-large' };
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of request.iterator({ destroyOnReturn: false })) {
      const bytes: Buffer = chunk;
      size += bytes.length;
      if (size > limit) return { kind: 'too-large' };
      chunks.push(bytes);
    }
  } catch {
    // The host closed the connection or was too slow (the server's request timeout has answered 408 then): no answer is read.
    return { kind: 'broken-off' };
  }
  const [only, ...others] = chunks;
  return {
    kind: 'read',
    bytes: only !== undefined && others.length === 0 ? only : Buffer.concat(chunks, size),
  };
}
