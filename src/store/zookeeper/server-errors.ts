/**
 * What a server's error numbers mean for callers of the port.
 *
 * `ConnectionLoss` stands for everything that passes by itself (a throttled server, a session that just moved): callers then
 * read the state and try again. An error that no retry can change and that the port has no name for is `Refused`, with the
 * number in the cause: unknown numbers must be kept, because each version of ZooKeeper has new ones.
 */
import { StoreError, type StoreErrorCode } from '../port.ts';

/** An answer with an error number, as received. */
export class ServerRefusal extends Error {
  override readonly name = 'ServerRefusal';
  readonly number: number;
  constructor(number: number) {
    super(`ZooKeeper answered ${NAMES[number] ?? 'with an error we do not know'} (${number})`);
    this.number = number;
  }
}

/** The numbers that code here distinguishes; `storeErrorOf` knows the others. */
export const SERVER_ERROR = {
  none: 0,
  /** In a multi's answer: undone, or not tried, because another operation failed. */
  runtimeInconsistency: -2,
  noNode: -101,
  noAuth: -102,
  badVersion: -103,
  sessionExpired: -112,
  authFailed: -115,
  sessionMoved: -118,
  noWatcher: -121,
} as const;

const CODES: { readonly [number: number]: StoreErrorCode } = {
  [-4]: 'ConnectionLoss',
  [-7]: 'ConnectionLoss',
  [-101]: 'NoNode',
  [-102]: 'Auth',
  [-103]: 'BadVersion',
  [-108]: 'NoChildrenForEphemerals',
  [-110]: 'NodeExists',
  [-111]: 'NotEmpty',
  [-112]: 'SessionExpired',
  [-114]: 'Auth',
  [-115]: 'Auth',
  [-118]: 'ConnectionLoss',
  [-119]: 'ConnectionLoss',
  [-127]: 'ConnectionLoss',
};

const NAMES: { readonly [number: number]: string } = {
  [-1]: 'SystemError',
  [-2]: 'RuntimeInconsistency',
  [-3]: 'DataInconsistency',
  [-4]: 'ConnectionLoss',
  [-5]: 'MarshallingError',
  [-6]: 'Unimplemented',
  [-7]: 'OperationTimeout',
  [-8]: 'BadArguments',
  [-101]: 'NoNode',
  [-102]: 'NoAuth',
  [-103]: 'BadVersion',
  [-108]: 'NoChildrenForEphemerals',
  [-110]: 'NodeExists',
  [-111]: 'NotEmpty',
  [-112]: 'SessionExpired',
  [-114]: 'InvalidACL',
  [-115]: 'AuthFailed',
  [-118]: 'SessionMoved',
  [-119]: 'NotReadOnly',
  [-120]: 'EphemeralOnLocalSession',
  [-121]: 'NoWatcher',
  [-122]: 'RequestTimeout',
  [-123]: 'ReconfigDisabled',
  [-124]: 'SessionClosedRequireSaslAuth',
  [-125]: 'QuotaExceeded',
  [-127]: 'ThrottledOp',
};

/** Whether an answer with this number was decided by the leader, not by a server that may have lost it. */
export function isSessionProof(number: number): boolean {
  return number === SERVER_ERROR.none || VERDICTS.has(CODES[number]);
}

const VERDICTS: ReadonlySet<StoreErrorCode | undefined> = new Set([
  'NoNode',
  'NodeExists',
  'BadVersion',
  'NotEmpty',
  'NoChildrenForEphemerals',
]);

/** @param failedOperation index in a multi. */
export function storeErrorOf(number: number, path: string, failedOperation?: number): StoreError {
  const cause = new ServerRefusal(number);
  return new StoreError(CODES[number] ?? 'Refused', path, failedOperation, { cause });
}
