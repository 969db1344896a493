/** Numbers of ZooKeeper's protocol, as far as Gatehouse uses it (3.6 and newer). */

/** Types of request, by the names of the port's operations where it has one. */
export const OP = {
  create: 1,
  delete: 2,
  get: 4,
  set: 5,
  children: 8,
  sync: 9,
  check: 13,
  multi: 14,
  removeWatches: 18,
  multiRead: 22,
  auth: 100,
  setWatches2: 105,
  addWatch: 106,
  closeSession: -11,
  /** In the answer of a multi: the operation at this place failed, or was undone. */
  error: -1,
} as const;

/** Transaction ids ("xid") of replies that answer no queued request. */
export const XID = { notification: -1, ping: -2, auth: -4 } as const;

/** Kinds of notification. */
export const EVENT = { created: 1, deleted: 2, changed: 3 } as const;

/** `CreateMode` as flags. */
export const FLAG = { ephemeral: 1, sequential: 2 } as const;

/** All rights: read 1, write 2, create 4, delete 8, admin 16. */
export const ALL_RIGHTS = 31;

/** Mode of addWatch: stays until removed, covers everything below. */
export const PERSISTENT_RECURSIVE = 1;

/** Kind of watch for removeWatches: any. */
export const ANY_WATCH = 3;

/** States of the package's ConnectionManager (its lib/ConnectionManager.js). */
export const LINK = {
  disconnected: 0,
  connecting: 1,
  connected: 2,
  closing: -1,
  closed: -2,
} as const;
