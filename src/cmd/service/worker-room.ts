import { createDiskRoom, type DiskRoom } from '../../lib/disk-room.ts';
import type { Log } from '../../lib/log.ts';

/** Watches the disks of a worker; when one is full, log and registry report that it takes no work. */
export function workerRoom(
  directories: readonly string[],
  log: Pick<Log, 'warn' | 'info'>,
  publish: (trouble: string | undefined) => void,
): DiskRoom {
  return createDiskRoom(directories, {
    onChange(trouble) {
      if (trouble === undefined) log.info({}, 'the disks have room again: taking work');
      else log.warn({}, `taking no work: ${trouble}`);
      publish(trouble);
    },
  });
}
