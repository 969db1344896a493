import { createDiskRoom, type DiskRoom } from '../../lib/disk-room.ts';
import type { Log } from '../../lib/log.ts';

/** The disks of a worker; when one is full the log and the registry say that it takes no work. */
export function workerRoom(
  directories: readonly string[],
  log: Pick<Log, 'warn' | 'info'>,
  tell: (trouble: string | undefined) => void,
): DiskRoom {
  return createDiskRoom(directories, {
    onChange(trouble) {
      if (trouble === undefined) log.info({}, 'there is room on the disks again: work is taken');
      else log.warn({}, `no work is taken: ${trouble}`);
      tell(trouble);
    },
  });
}
