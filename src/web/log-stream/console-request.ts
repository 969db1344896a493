/** The first message of a console stream. Pure. */

/** A log that is asked for. */
export interface ConsoleRequest {
  readonly kind: 'request';
  readonly uuid: string;
  /** Undefined: none was sent. */
  readonly token: string | undefined;
  /** Ours: the log is sent from this byte on, as it is, in binary messages. Undefined: as Zuul does. */
  readonly offset: number | undefined;
}

/** @returns why it is none, in Zuul's words where Zuul has some. */
export function parseConsoleRequest(
  text: string,
): ConsoleRequest | { readonly kind: 'refused'; readonly text: string } {
  const refused = (reason: string) => ({ kind: 'refused', text: reason }) as const;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return refused('the request is not JSON');
    throw error;
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return refused('the request is no object of JSON');
  const fields = new Map<string, unknown>(Object.entries(value));
  for (const key of ['uuid', 'logfile'])
    if (!fields.has(key)) return refused(`'${key}' missing from request payload`);
  const uuid = fields.get('uuid');
  const token = fields.get('token');
  if (typeof uuid !== 'string') return refused("'uuid' is not a text");
  // A build has one log, by any name.
  const ours = fields.get('gatehouse');
  const offset = typeof ours === 'object' && ours !== null && 'offset' in ours ? ours.offset : undefined;
  if (offset !== undefined && !isOffset(offset)) return refused("'offset' is not a number of bytes");
  return {
    kind: 'request',
    uuid,
    token: typeof token === 'string' && token !== '' ? token : undefined,
    offset,
  };
}

function isOffset(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}
