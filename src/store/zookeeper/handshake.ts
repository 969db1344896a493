/** The first exchange on each connection, and the notifications a server sends by itself. */
import type { WatchEvent } from '../port.ts';
import { type JuteReader, JuteWriter } from './jute.ts';
import { EVENT } from './wire.ts';

/** What we send first: who we are, and how long a silence may last. */
export interface ConnectRequest {
  /** Highest transaction seen: a server that is behind it refuses us. */
  readonly lastTransaction: bigint;
  /** The timeout we ask for; the server grants what its limits allow. */
  readonly timeoutMs: number;
  /** 0 for a new session. */
  readonly sessionId: bigint;
  readonly password: Buffer;
}

/** Unlike requests it has no header. */
export function connectFrame({ lastTransaction, timeoutMs, sessionId, password }: ConnectRequest): Buffer {
  const frame = new JuteWriter(64)
    .int(0) // length, below
    .int(0) // version of the protocol
    .long(lastTransaction)
    .int(timeoutMs)
    .long(sessionId)
    .bytes(password)
    .bool(false) // a read-only server is not enough
    .finish();
  frame.writeInt32BE(frame.byteLength - 4);
  return frame;
}

/** What the server grants; the session's id and password are those to return with. */
export interface ConnectAnswer {
  /** Granted, milliseconds; 0 or less: there is no such session. */
  readonly timeoutMs: number;
  readonly sessionId: bigint;
  readonly password: Buffer;
}

/** @throws RangeError when the frame is too short to be one. */
export function readConnectAnswer(body: JuteReader): ConnectAnswer {
  body.int();
  return { timeoutMs: body.int(), sessionId: body.long(), password: Buffer.from(body.bytes()) };
}

const KINDS = new Map<number, 'created' | 'changed' | 'deleted'>([
  [EVENT.created, 'created'],
  [EVENT.changed, 'changed'],
  [EVENT.deleted, 'deleted'],
]);

/** @returns undefined for events that recursive watches do not report (changes of the list of children, states). */
export function readNotification(body: JuteReader): WatchEvent | undefined {
  const kind = KINDS.get(body.int());
  body.int();
  return kind === undefined ? undefined : { kind, path: body.string() };
}
