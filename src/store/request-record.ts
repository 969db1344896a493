/**
 * How a request for a worker is stored. Its state is in `queue/<priority>-<uuid>-<seq>` and is rewritten by the worker that
 * takes it and by the sweeper that puts it back; the request's own bytes, which never change, are in `bodies/<uuid>` and are written once. Both are records of
 * their own, so each has its version.
 *
 *     {"k":"request","v":2,"d":{"state":"taken","attempt":1,"apart":true,"worker":"executor1","at":"1795000000000000000"}}
 *
 * Releases up to 0.3 wrote both into one node, with a line end between them; such a request stays in that form.
 * Priority and number are in the name, so that listing names is enough to know the order. So is whether it waits for hosts
 * (`<priority>-<uuid>-nodes-<seq>`) or has them (`…-hosts-<seq>`, and of a zone `…-hosts.<zone>-<seq>`): only the scheduler that grants hosts and its worker rename it.
 */
import type { Nanoseconds } from '../lib/clock.ts';
import { enveloped, RecordError, recordCodec, upgradeFrom } from '../model/codec/record.ts';
import { added, list, mark, nullable, optional, tagged, text, time, whole } from '../model/codec/schema.ts';
import { workerLossSchema } from '../model/codec/schemas/merges.ts';
import { nodeGrantSchema, wantedNodesSchema } from '../model/codec/schemas/static-hosts.ts';
import { sameForm } from '../model/codec/upgrades.ts';
import type { NodeGrant, WantedNodes } from '../model/static-host.ts';
import type { WorkerLoss } from '../model/worker-loss.ts';

/** requested → taken → (node gone: done, withdrawn or failed); a vanished worker: taken → requested, attempt + 1. */
export type RequestState =
  | { readonly kind: 'requested' }
  | {
      readonly kind: 'taken';
      readonly worker: string;
      readonly at: Nanoseconds;
      /** The worker's session with the store, which also names its sign of life. Null: not recorded. */
      readonly session: string | null;
    };

/** A request's node in the queue: what changes, and, of an earlier release, the bytes of the request. */
export interface RequestRecord {
  readonly state: RequestState;
  /** 1, plus one for each worker that vanished with it. */
  readonly attempt: number;
  /** Of the workers that vanished with it, where that is known, oldest first; absent: none. */
  readonly losses?: readonly WorkerLoss[];
  /** What it wants hosts for. Absent: it needs none. */
  readonly wanted?: WantedNodes;
  /** Hosts that it was given. Absent: none. */
  readonly granted?: NodeGrant;
  /** Encoded by the requester; the queue only copies them. Absent: they are in a node of their own. */
  readonly bytes?: Uint8Array;
}

/** What the name of a request's node says of it. */
export interface RequestName {
  readonly uuid: string;
  /** 0–999, lower is sooner. */
  readonly priority: number;
  /** Order within a priority. */
  readonly sequence: number;
  /** `waiting`: no worker may take it before it has got hosts. `granted`: it has. Absent: it needs none. */
  readonly hosts?: 'waiting' | 'granted';
  /** Of the hosts it has: workers of other zones cannot reach them. Absent: any worker of none. */
  readonly zone?: string;
}

/** In names. */
const HOSTS = { none: '', waiting: 'nodes-', granted: 'hosts-' } as const;
const ZONED = 'hosts.';
/** In names of zones, which have no such character themselves. */
const HYPHEN = '~';
const HOSTS_OF = [
  ['waiting', HOSTS.waiting],
  ['granted', HOSTS.granted],
] as const;

type Kept = Pick<RequestRecord, 'attempt' | 'losses' | 'wanted' | 'granted'>;

/** `apart`: the request's bytes are in a node of their own; absent: they follow. */
type Tries = Kept & { readonly apart?: true };

/** The first line. */
type RequestHead =
  | ({ readonly state: 'requested' } & Tries)
  | ({ readonly state: 'taken' } & Tries & Omit<Extract<RequestState, { readonly kind: 'taken' }>, 'kind'>);

const tries = {
  attempt: whole,
  losses: optional(list(workerLossSchema)),
  wanted: optional(wantedNodesSchema),
  granted: optional(nodeGrantSchema),
  apart: optional(mark),
};

/** A request's node in the queue, or its first line. */
export const requestHeadCodec = recordCodec(
  'request',
  2,
  tagged<RequestHead, 'state'>('state', {
    requested: tries,
    taken: { ...tries, worker: text, at: time, session: added(nullable(text), () => null) },
  }),
  [upgradeFrom(sameForm)],
);

const LINE_END = 10;
/** Digits that the store appends to a name. */
const SEQUENCE = 10;

/** The name without its number, which the store appends. @throws RangeError for a priority outside 0–999. */
export function requestNamePrefix(
  priority: number,
  uuid: string,
  { hosts, zone }: Pick<RequestName, 'hosts' | 'zone'> = {},
): string {
  if (!Number.isInteger(priority) || priority < 0 || priority > 999)
    throw new RangeError(`priority ${priority}`);
  const mark = zone === undefined ? HOSTS[hosts ?? 'none'] : `${ZONED}${zone.replaceAll('-', HYPHEN)}-`;
  return `${String(priority).padStart(3, '0')}-${uuid}-${mark}`;
}

/** The same request at another priority: its number, and so its age, stays. */
export function withPriority(name: string, priority: number): string {
  const { uuid, ...marks } = parseRequestName(name) ?? {};
  return uuid === undefined ? name : `${requestNamePrefix(priority, uuid, marks)}${name.slice(-SEQUENCE)}`;
}

type RequestZone = Pick<RequestName, 'zone'>;

/** The same request once it has got hosts, or has given them back: its place in the order stays. */
export function withHosts(name: string, marks: Required<Pick<RequestName, 'hosts'>> & RequestZone): string {
  const { uuid, priority = 0 } = parseRequestName(name) ?? {};
  return uuid === undefined ? name : `${requestNamePrefix(priority, uuid, marks)}${name.slice(-SEQUENCE)}`;
}

/** Without an expression: a worker that looks for its next request reads the names of all. @returns undefined for a name that is not a request's. */
export function parseRequestName(name: string): RequestName | undefined {
  const numberAt = name.length - SEQUENCE;
  const priority = digitsOf(name, 0, 3);
  const sequence = digitsOf(name, numberAt, name.length);
  if (priority === undefined || sequence === undefined || name[3] !== '-') return undefined;
  const zoned = zonedName(name, { priority, sequence, numberAt });
  if (zoned !== undefined) return zoned;
  const hosts = HOSTS_OF.find(([, mark]) => name.endsWith(`-${mark}`, numberAt));
  const end = numberAt - (hosts?.[1].length ?? 0) - 1;
  if (end < 5 || name[end] !== '-') return undefined;
  return {
    uuid: name.slice(4, end),
    priority,
    sequence,
    ...(hosts === undefined ? {} : { hosts: hosts[0] }),
  };
}

/** @returns undefined for a request without a zone. */
function zonedName(
  name: string,
  {
    priority,
    sequence,
    numberAt,
  }: { readonly priority: number; readonly sequence: number; readonly numberAt: number },
): RequestName | undefined {
  const zoneAt = name.lastIndexOf(`-${ZONED}`, numberAt);
  const from = zoneAt + ZONED.length + 1;
  if (zoneAt < 5 || from >= numberAt - 1 || name[numberAt - 1] !== '-') return undefined;
  const zone = name.slice(from, numberAt - 1).replaceAll(HYPHEN, '-');
  return { uuid: name.slice(4, zoneAt), priority, sequence, hosts: 'granted', zone };
}

/** @returns undefined where one of these characters is no digit. */
function digitsOf(text: string, from: number, to: number): number | undefined {
  let value = 0;
  for (let at = from; at < to; at++) {
    const digit = text.charCodeAt(at) - ZERO;
    if (!(digit >= 0 && digit <= 9)) return undefined;
    value = value * 10 + digit;
  }
  return value;
}

const ZERO = 48;

/** Names in the order of service: by priority, then first come, first served. Names of other nodes come last. */
export function inServiceOrder(names: readonly string[]): readonly string[] {
  return names
    .map(name => ({ name, place: placeOf(name) }))
    .sort((a, b) => a.place - b.place)
    .map(({ name }) => name);
}

/** Of a priority and a number of ten digits. */
function placeOf(name: string): number {
  const priority = digitsOf(name, 0, 3);
  const sequence = digitsOf(name, name.length - SEQUENCE, name.length);
  return priority === undefined || sequence === undefined
    ? Number.MAX_SAFE_INTEGER
    : priority * 10 ** SEQUENCE + sequence;
}

/** Also writes a request back with another state; its bytes stay where they are. */
export function encodeRequestRecord({ state, bytes, ...tries }: RequestRecord): Uint8Array {
  const head = requestHeadCodec.encode(headOf(state, tries, bytes === undefined ? { apart: true } : {}));
  return bytes === undefined ? head : Buffer.concat([head, Buffer.of(LINE_END), bytes]);
}

function headOf({ kind, ...rest }: RequestState, tries: Tries, apart: Pick<Tries, 'apart'>): RequestHead {
  const all = { ...keptOf(tries), ...apart };
  // TypeScript does not carry the kind over to the rest.
  return 'worker' in rest ? { state: 'taken', ...all, ...rest } : { state: 'requested', ...all };
}

/** @throws RecordError when the first line is not a state, or one of a newer version. */
export function decodeRequestRecord(stored: Uint8Array): RequestRecord {
  const end = stored.indexOf(LINE_END);
  const line = end === -1 ? stored : stored.subarray(0, end);
  // 0.1.0 wrote the state without an envelope.
  const head = requestHeadCodec.decode(enveloped(requestHeadCodec.kind, line));
  if (end === -1 && head.apart === undefined)
    throw new RecordError('broken', 'a request record cannot be read: nothing follows its state');
  const rest = {
    ...keptOf(head),
    ...(head.apart === undefined ? { bytes: stored.slice(end + 1) } : {}),
  };
  switch (head.state) {
    case 'requested':
      return { state: { kind: 'requested' }, ...rest };
    case 'taken':
      return { state: takenState(head), ...rest };
    default:
      throw new RecordError(
        'broken',
        `a request record cannot be read: its state is ${JSON.stringify(head)}`,
      );
  }
}

/** What every state of a request keeps. */
export function keptOf({ attempt, losses, wanted, granted }: Kept): Kept {
  return {
    attempt,
    ...(losses === undefined ? {} : { losses }),
    ...(wanted === undefined ? {} : { wanted }),
    ...(granted === undefined ? {} : { granted }),
  };
}

function takenState({
  worker,
  at,
  session,
}: Extract<RequestHead, { readonly state: 'taken' }>): RequestState {
  return { kind: 'taken', worker, at, session };
}
