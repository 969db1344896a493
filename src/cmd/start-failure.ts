/** Failures of a start that somebody can mend in the settings or on the machine, as one line each. */
import type { Settings } from '../settings/settings.ts';
import { StoreFileError } from '../store/embedded/journal.ts';
import { StoreError } from '../store/port.ts';
import { SocketPathError } from '../web/local-door.ts';
import { MetricsPortError } from './service/metrics-server.ts';

/** Undefined: it is a defect, to be shown with its stack. */
export function startFailureText(
  error: unknown,
  { web, scheduler }: Pick<Settings, 'web' | 'scheduler'>,
): string | undefined {
  if (error instanceof MetricsPortError || error instanceof SocketPathError) return error.message;
  if (error instanceof StoreFileError) return `${error.message}; see [store] path`;
  const refusedBy = refusalOfStore(error);
  if (refusedBy !== undefined) return refusedBy;
  if (!(error instanceof Error) || !('code' in error)) return undefined;
  const address = `${web.listenAddress}:${web.port}`;
  switch (error.code) {
    case 'EADDRINUSE':
      return `${address} is taken by another program; stop that one, or set [web] port (0 takes any free one)`;
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return `${web.listenAddress} is no address of this machine; set [web] listen_address`;
    case 'EACCES':
    case 'EPERM':
    case 'EROFS':
    case 'ENOSPC':
    case 'ENOTDIR':
      return 'syscall' in error && error.syscall === 'listen'
        ? `${address} may not be listened to by this user; set [web] port above 1023`
        : `${error.message}; state is kept in ${scheduler.stateDir}, see [scheduler] state_dir`;
    default:
      return undefined;
  }
}

/** ZooKeeper does not let us in; undefined: it is something else. */
export function refusalOfStore(error: unknown): string | undefined {
  if (!(error instanceof StoreError) || error.code !== 'Auth') return undefined;
  return 'ZooKeeper refuses us; see [zookeeper] auth_user, auth_password and root (its nodes belong to whoever made them)';
}
