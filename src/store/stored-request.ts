/** A request of a queue as it was when read, and what is made of it; see request-queue.ts. */
import { isNewerRecord } from '../model/codec/record.ts';
import type { NodeGrant, WantedNodes } from '../model/static-host.ts';
import type { WorkerLoss } from '../model/worker-loss.ts';
import { type Operation, remove } from './port.ts';
import { encodeRequestRecord, type RequestRecord, type RequestState } from './request-record.ts';

/** A request as it was when read; `version` makes operations on it fail when it has changed since. */
export interface StoredRequest<T> {
  readonly path: string;
  readonly uuid: string;
  readonly version: number;
  readonly state: RequestState;
  /** 1, plus one for each worker that vanished with it. */
  readonly attempt: number;
  /** See `RequestRecord`. */
  readonly losses?: readonly WorkerLoss[];
  readonly wanted?: WantedNodes;
  readonly granted?: NodeGrant;
  readonly value: T;
  /** The request's own bytes. */
  readonly bytes: Uint8Array;
  /** The node that holds these bytes; absent: the request's own, which a release up to 0.3 wrote. */
  readonly body?: string;
}

/** A request this process cannot read, because it is broken or of a newer version; its uuid is known from its name. */
export interface UnreadableRequest {
  readonly path: string;
  readonly uuid: string;
  readonly version: number;
  readonly error: unknown;
  /** As above, where there is one. */
  readonly body?: string;
}

/** Removes it as it was when read, with what it asks for. */
export function removalOf({
  path,
  version,
  body,
}: StoredRequest<unknown> | UnreadableRequest): readonly Operation[] {
  return [remove(path, version), ...(body === undefined ? [] : [remove(body)])];
}

/** The record of the same request in another state, for its node. */
export function restated<T>(
  { bytes, body }: StoredRequest<T>,
  rest: Omit<RequestRecord, 'bytes'>,
): Uint8Array {
  return encodeRequestRecord(body === undefined ? { ...rest, bytes } : rest);
}

/** Whether this process or an upgraded one can read it. */
export function isIntact(request: StoredRequest<unknown> | UnreadableRequest): boolean {
  return isReadable(request) || isNewerRecord(request.error);
}

/** False also for a request of a newer version, which is intact: see {@link isIntact}. */
export function isReadable<T>(request: StoredRequest<T> | UnreadableRequest): request is StoredRequest<T> {
  return !('error' in request);
}
