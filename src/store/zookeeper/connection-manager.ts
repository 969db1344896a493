/**
 * The inside of `node-zookeeper-client` 1.1.3 that we hold on to: its ConnectionManager (lib/ConnectionManager.js), which its types
 * leave out. The package is pinned to this version; what is named here is what an update would have to be checked against.
 */
import type { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';
import type {} from 'node-zookeeper-client';
import type { QueuedCall } from './call.ts';

export interface Packet {
  readonly request: QueuedCall;
}

/** What is not sent yet. Emits `readable` when something was added. */
interface PacketQueue extends EventEmitter {
  readonly queue: Packet[];
  /** Asked for the next packet to write until it has none. */
  shift(): Packet | undefined;
}

export interface ConnectionManager {
  /** One of `LINK`. */
  readonly state: number;
  /** The current connection, if there ever was one. */
  socket?: Socket;
  /** Last number given to a request; goes on across connections. */
  xid: number;
  /** Eight bytes, zero before the first session. */
  sessionId: Buffer;
  /** Sixteen bytes, which prove a returning client to be the session's. */
  sessionPassword: Buffer;
  readonly packetQueue: PacketQueue;
  /** Sent and not answered, in the order of sending, which is the order of answers. */
  readonly pendingQueue: Packet[];
  /** Tells the client object's listeners. */
  setState(state: number): void;
  connect(): void;
  /** Adds to the packet queue. */
  queue(request: QueuedCall): void;
  /** Writes what is queued to the socket, until that pushes back. */
  onPacketQueueReadable(): void;
}

declare module 'node-zookeeper-client' {
  interface Client {
    readonly connectionManager: ConnectionManager;
  }
}
