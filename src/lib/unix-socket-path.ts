/**
 * Paths of Unix sockets. A socket is bound at {@link PRIVATE_SOCKET} below a directory only we may enter, and renamed to its final
 * path once its mode is right; both paths must fit into the kernel's 108 bytes, of which the last is a NUL.
 */
import { dirname, join } from 'node:path';

const LONGEST = 107;

/** Prefix for `mkdtemp`, which appends six characters. */
export const PRIVATE_DIRECTORY = '.s';
/** Name of the socket below its private directory, one letter because the path counts against the limit. */
export const PRIVATE_SOCKET = 's';

/** Number of bytes by which `path` is too long for a socket; 0: it fits. */
export function excessOfSocketPath(path: string): number {
  const bound = join(dirname(path), `${PRIVATE_DIRECTORY}XXXXXX`, PRIVATE_SOCKET);
  return Math.max(0, Buffer.byteLength(path) - LONGEST, Buffer.byteLength(bound) - LONGEST);
}
