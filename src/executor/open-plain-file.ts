/** Opens a file that a job wrote where the job may write anything: a link would lead out of the build, a FIFO would never end. */
import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';

/** @returns undefined for anything but a file that can be read: the job wrote none. @throws an error of the file system. */
export async function openPlainFile(path: string): Promise<FileHandle | undefined> {
  let file: FileHandle;
  try {
    file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    // Missing, a symbolic link, a socket, or made unreadable.
    if (error instanceof Error && 'code' in error && UNREADABLE.has(String(error.code))) return undefined;
    throw error;
  }
  if ((await file.stat()).isFile()) return file;
  await file.close();
  return undefined;
}

const UNREADABLE: ReadonlySet<string> = new Set(['ENOENT', 'ENOTDIR', 'ELOOP', 'ENXIO', 'EACCES', 'EPERM']);
