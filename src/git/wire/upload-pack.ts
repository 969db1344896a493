/**
 * The two questions of `git-upload-pack` in protocol 2, each one request: where refs are, and the objects of commits. An answer
 * that holds anything unexpected is unusable as a whole.
 */
import { isObjectId, type ObjectId } from '../objects/object-id.ts';
import { isRefName, type RefName } from '../objects/ref-name.ts';
import { bytesOf, DELIMITER, FLUSH, type GitPacket, packet, readPackets } from './packets.ts';

/** What a connection that is not HTTP writes first. */
const GREETING = packet('version 2');

/** @param refs full names; the answer holds others that begin with one of these, too. */
export function listingRequest(refs: readonly RefName[]): string {
  return request(
    'ls-refs',
    refs.map(ref => `ref-prefix ${ref}`),
  );
}

/** @param refs those that were asked for. @returns where they are, without those that are not there; undefined: unusable. */
export function readListing(
  answer: Buffer,
  refs: readonly RefName[],
): ReadonlyMap<RefName, ObjectId> | undefined {
  const packets = wholeAnswer(answer);
  if (packets === undefined) return undefined;
  const wanted = new Set<string>(refs);
  const found = new Map<RefName, ObjectId>();
  for (const each of packets) {
    if (each.kind !== 'content') return undefined;
    const [id = '', name = ''] = textOf(each.content).split(' ');
    if (!isObjectId(id)) return undefined;
    if (wanted.has(name) && isRefName(name)) found.set(name, id);
  }
  return found;
}

/** @param haves commits that are here with all they lead to: what they hold is not sent. */
export function packRequest(wants: readonly ObjectId[], haves: readonly ObjectId[]): string {
  return request('fetch', [
    ...['thin-pack', 'ofs-delta', 'no-progress'],
    ...wants.map(id => `want ${id}`),
    ...haves.map(id => `have ${id}`),
    // No negotiation: the answer holds the objects at once.
    'done',
  ]);
}

/** Of a side band, in front of its content. */
const DATA = 1;
const PROGRESS = 2;

/** @returns the pack, which is not checked here; undefined: unusable, or the host does not give these commits by id. */
export function readPack(answer: Buffer): Buffer | undefined {
  const packets = wholeAnswer(answer);
  const [header, ...bands] = packets ?? [];
  if (header?.kind !== 'content' || textOf(header.content) !== 'packfile') return undefined;
  const parts: Buffer[] = [];
  for (const each of bands) {
    if (each.kind !== 'content') return undefined;
    const [band] = each.content;
    if (band === DATA) parts.push(each.content.subarray(1));
    else if (band !== PROGRESS) return undefined;
  }
  return Buffer.concat(parts);
}

/** What follows the greeting. @returns undefined: the host speaks another protocol, or its greeting has no end. */
export function withoutGreeting(answer: Buffer): Buffer | undefined {
  if (!answer.subarray(0, GREETING.length).equals(Buffer.from(GREETING))) return undefined;
  const packets = readPackets(answer);
  const greeting = packets?.findIndex(({ kind }) => kind === 'flush') ?? -1;
  return greeting < 0 ? undefined : answer.subarray(bytesOf(packets?.slice(0, greeting + 1) ?? []));
}

function request(command: string, lines: readonly string[]): string {
  const head = [`command=${command}`, 'agent=gatehouse', 'object-format=sha1'].map(packet);
  return [...head, DELIMITER, ...lines.map(packet), FLUSH].join('');
}

/** The packets in front of the flush that ends the answer. */
function wholeAnswer(answer: Buffer): readonly GitPacket[] | undefined {
  const packets = readPackets(answer);
  return packets?.at(-1)?.kind === 'flush' ? packets.slice(0, -1) : undefined;
}

function textOf(content: Buffer): string {
  return content.toString('utf8').replace(/\n$/, '');
}
