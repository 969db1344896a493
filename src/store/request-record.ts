/**
 * How a request for a worker is stored: `queue/<priority>-<uuid>-<seq>`, one line of JSON for its state, then the request's
 * own bytes, which never change.
 *
 *     {"state":"taken","attempt":1,"worker":"executor1","at":"1795000000000000000"}⏎<request>
 *
 * Priority and number are in the name, so that listing names is enough to know the order.
 */
import { type Nanoseconds, parseNanoseconds } from '../lib/clock.ts';

/** requested → taken → (node gone: done, withdrawn or given up); a vanished worker: taken → requested, attempt + 1. */
export type RequestState =
  | { readonly kind: 'requested' }
  | { readonly kind: 'taken'; readonly worker: string; readonly at: Nanoseconds };

export interface RequestRecord {
  readonly state: RequestState;
  /** 1, plus one for each worker that vanished with it. */
  readonly attempt: number;
  readonly bytes: Uint8Array;
}

export interface RequestName {
  readonly uuid: string;
  /** 0–999, lower is sooner. */
  readonly priority: number;
  /** Order within a priority. */
  readonly sequence: number;
}

const LINE_END = 10;

/** The name without its number, which the store appends. @throws RangeError for a priority outside 0–999. */
export function requestNamePrefix(priority: number, uuid: string): string {
  if (!Number.isInteger(priority) || priority < 0 || priority > 999)
    throw new RangeError(`priority ${priority}`);
  return `${String(priority).padStart(3, '0')}-${uuid}-`;
}

/** @returns undefined for a name that is none of ours. */
export function parseRequestName(name: string): RequestName | undefined {
  const [, priority, uuid, sequence] = /^(\d{3})-(.+)-(\d{10})$/.exec(name) ?? [];
  if (uuid === undefined) return undefined;
  return { uuid, priority: Number(priority), sequence: Number(sequence) };
}

/** Names in the order of service: by priority, then first come, first served. */
export function inServiceOrder(names: readonly string[]): readonly string[] {
  const key = (name: string): string => name.slice(0, 4) + name.slice(-10);
  return names.toSorted((a, b) => (key(a) < key(b) ? -1 : 1));
}

export function encodeRequestRecord({ state, attempt, bytes }: RequestRecord): Uint8Array {
  const head =
    state.kind === 'requested'
      ? { state: 'requested', attempt }
      : { ...state, kind: undefined, state: 'taken', attempt };
  return Buffer.concat([Buffer.from(`${JSON.stringify(head)}\n`), bytes]);
}

/** @throws Error when the first line is not a state. */
export function decodeRequestRecord(stored: Uint8Array): RequestRecord {
  const end = stored.indexOf(LINE_END);
  const head: unknown = JSON.parse(new TextDecoder().decode(stored.subarray(0, end)));
  if (typeof head !== 'object' || head === null) throw new Error('request: its first line is not an object');
  const { state, attempt, worker, at } = Object.assign({ state: '', attempt: 1, worker: '', at: '' }, head);
  const bytes = stored.slice(end + 1);
  if (state === 'requested') return { state: { kind: 'requested' }, attempt, bytes };
  if (state === 'taken')
    return { state: { kind: 'taken', worker, at: parseNanoseconds(at) }, attempt, bytes };
  throw new Error(`request: unknown state ${JSON.stringify(state)}`);
}
