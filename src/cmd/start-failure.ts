/** Start failures that an operator can fix in the settings or on the machine, as one line each. */
import type { Settings } from '../settings/settings.ts';
import { StoreFileError } from '../store/embedded/journal.ts';
import { KeystoreLocked } from '../store/keystore/keystore-locked.ts';
import { StoreError } from '../store/port.ts';
import { SocketPathError } from '../web/local-socket.ts';
import { MetricsPortError } from './service/metrics-server.ts';

/** Undefined: an internal error, to be shown with its stack. */
export function startFailureText(
  error: unknown,
  { web, scheduler }: Pick<Settings, 'web' | 'scheduler'>,
): string | undefined {
  if (
    error instanceof MetricsPortError ||
    error instanceof SocketPathError ||
    error instanceof KeystoreLocked
  )
    return error.message;
  if (error instanceof StoreFileError) return `${error.message}; see [store] path`;
  const refusedBy = refusalOfStore(error);
  if (refusedBy !== undefined) return refusedBy;
  if (!(error instanceof Error) || !('code' in error)) return undefined;
  const address = `${web.listenAddress}:${web.port}`;
  switch (error.code) {
    case 'EADDRINUSE':
      return `${address} is in use by another program; stop that program, or set [web] port (0 takes any free one)`;
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return `${web.listenAddress} is not an address of this machine; set [web] listen_address`;
    case 'EACCES':
    case 'EPERM':
    case 'EROFS':
    case 'ENOSPC':
    case 'ENOTDIR':
      return 'syscall' in error && error.syscall === 'listen'
        ? `this user may not listen on ${address}; set [web] port above 1023`
        : `${error.message}; state is kept in ${scheduler.stateDir}, see [scheduler] state_dir`;
    default:
      return undefined;
  }
}

/** Text for a ZooKeeper authentication failure; undefined: the error is something else. */
export function refusalOfStore(error: unknown): string | undefined {
  if (!(error instanceof StoreError) || error.code !== 'Auth') return undefined;
  return 'ZooKeeper refuses access; see [zookeeper] auth_user, auth_password and root (nodes belong to the user that created them)';
}
