/**
 * The internals of `node-zookeeper-client` 1.1.3 that we rely on: its ConnectionManager (lib/ConnectionManager.js), which its
 * types leave out. The package is pinned to this version; an update has to be checked against everything named here.
 */
import type { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';
import type {} from 'node-zookeeper-client';
import type { QueuedCall } from './call.ts';

/** An entry of the package's queues; the request is ours. */
export interface Packet {
  readonly request: QueuedCall;
}

/** Packets not sent yet. Emits `readable` when one was added. */
interface PacketQueue extends EventEmitter {
  readonly queue: Packet[];
  /** The next packet to write; called until there is none. */
  shift(): Packet | undefined;
}

/** Read and replaced by link.ts alone. */
export interface ConnectionManager {
  /** One of `LINK`. */
  readonly state: number;
  /** The current connection, if there ever was one. */
  socket?: Socket;
  /** Last number given to a request; continues across connections. */
  xid: number;
  /** Eight bytes, zero before the first session. */
  sessionId: Buffer;
  /** Sixteen bytes that prove a returning client to be the session's owner. */
  sessionPassword: Buffer;
  readonly packetQueue: PacketQueue;
  /** Sent and not answered, in the order of sending, which is the order of answers. */
  readonly pendingQueue: Packet[];
  /** Notifies the client object's listeners. */
  setState(state: number): void;
  connect(): void;
  /** Adds to the packet queue. */
  queue(request: QueuedCall): void;
  /** Writes the queue to the socket until that signals back pressure. */
  onPacketQueueReadable(): void;
}

declare module 'node-zookeeper-client' {
  interface Client {
    readonly connectionManager: ConnectionManager;
  }
}
