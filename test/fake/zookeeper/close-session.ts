/**
 * Ends another client's session by closing it in its name: that client then sees an expired session, without
 * waiting for a timeout.
 */
import { connect } from 'node:net';

export interface SessionCredentials {
  readonly id: bigint;
  readonly password: Buffer;
}

const CLOSE_SESSION = -11;

/** @throws Error when the server does not know the session, or goes away first. */
export async function closeSession(
  port: number,
  { id, password }: SessionCredentials,
  host = '127.0.0.1',
): Promise<void> {
  const socket = connect({ host, port });
  socket.setTimeout(5000, () => socket.destroy(new Error('no answer in time')));
  // In one piece: the session's own client comes back as soon as it is cut off.
  socket.write(Buffer.concat([connectRequest(id, password), closeRequest()]));
  let answer = Buffer.alloc(0);
  try {
    // The last answer is the end of the connection.
    for await (const piece of socket) answer = Buffer.concat([answer, piece]);
  } finally {
    socket.destroy();
  }
  // Length, protocol version, then the timeout granted: none for an unknown session.
  if (answer.length < 12 || answer.readInt32BE(8) === 0)
    throw new Error(`the server does not know session ${id.toString(16)}`);
}

function connectRequest(id: bigint, password: Buffer): Buffer {
  const body = Buffer.alloc(28);
  body.writeInt32BE(10_000, 12);
  body.writeBigInt64BE(BigInt.asIntN(64, id), 16);
  body.writeInt32BE(password.length, 24);
  return frame(Buffer.concat([body, password]));
}

function closeRequest(): Buffer {
  const body = Buffer.alloc(8);
  body.writeInt32BE(1, 0);
  body.writeInt32BE(CLOSE_SESSION, 4);
  return frame(body);
}

function frame(body: Buffer): Buffer {
  const length = Buffer.alloc(4);
  length.writeInt32BE(body.length);
  return Buffer.concat([length, body]);
}
