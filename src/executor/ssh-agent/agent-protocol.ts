/**
 * The part of the ssh-agent protocol (draft-miller-ssh-agent) that agents of builds speak: they list keys, sign with them, take keys of the
 * job and remove them. Every other request, extensions and keys with constraints among them, is answered with a failure, as the protocol has
 * it.
 *
 *     uint32 length · byte type · content            in both directions; text and bytes: uint32 length · bytes
 */
import { readAddedKey } from './added-key.ts';
import type { AgentKeys } from './agent-keys.ts';
import { readText, sshText, sshWhole } from './agent-wire.ts';

/** Bytes of a request; OpenSSH's agent takes as many. */
const MOST_BYTES = 256 * 1024;

const FAILURE = 5;
const SUCCESS = 6;
const LIST = 11;
const LISTED = 12;
const SIGN = 13;
const SIGNED = 14;
const ADD = 17;
const REMOVE = 18;
const REMOVE_ALL = 19;

/** The first whole request of what came in, without its length. `broken`: the other side speaks something else, or too much at once. */
export type TakenRequest =
  | { readonly kind: 'request'; readonly request: Buffer; readonly rest: Buffer }
  | { readonly kind: 'incomplete' }
  | { readonly kind: 'broken' };

export function takeRequest(input: Buffer): TakenRequest {
  if (input.length < 4) return { kind: 'incomplete' };
  const length = input.readUInt32BE(0);
  if (length === 0 || length > MOST_BYTES) return { kind: 'broken' };
  if (input.length < 4 + length) return { kind: 'incomplete' };
  return { kind: 'request', request: input.subarray(4, 4 + length), rest: input.subarray(4 + length) };
}

/** @returns the whole answer. */
export async function answerRequest(request: Buffer, keys: AgentKeys): Promise<Buffer> {
  const content = request.subarray(1);
  switch (request[0]) {
    case LIST: {
      const all = keys.list();
      const listed = all.flatMap(({ blob, comment }) => [sshText(blob), sshText(comment)]);
      return framed(Buffer.concat([Buffer.from([LISTED]), sshWhole(all.length), ...listed]));
    }
    case SIGN:
      return (await signed(content, keys)) ?? done(false);
    case ADD: {
      const key = readAddedKey(content);
      return done(key !== undefined && keys.add(key));
    }
    case REMOVE: {
      const wanted = readText(content);
      return done(wanted !== undefined && keys.remove(wanted.bytes));
    }
    case REMOVE_ALL:
      keys.removeAll();
      return done(true);
    default:
      return done(false);
  }
}

/** Undefined: the request is broken, or about another key. */
async function signed(content: Buffer, keys: AgentKeys): Promise<Buffer | undefined> {
  const wanted = readText(content);
  const data = wanted && readText(wanted.rest);
  if (wanted === undefined || data === undefined || data.rest.length < 4) return undefined;
  const made = await keys.sign(wanted.bytes, data.bytes, data.rest.readUInt32BE(0));
  if (made === undefined) return undefined;
  const { algorithm, signature } = made;
  return framed(
    Buffer.concat([Buffer.from([SIGNED]), sshText(Buffer.concat([sshText(algorithm), sshText(signature)]))]),
  );
}

function done(isDone: boolean): Buffer {
  return framed(Buffer.from([isDone ? SUCCESS : FAILURE]));
}

function framed(message: Buffer): Buffer {
  return Buffer.concat([sshWhole(message.length), message]);
}
