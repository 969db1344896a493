/**
 * Descriptors the service was started with (by a shell, a supervisor) that every job would inherit: an open directory
 * of the host, for instance, is a way out of any sandbox. The spawner closes them before it starts the first job.
 *
 * Node opens its own with close-on-exec, so those without it, above standard error, are inherited.
 */
import { closeSync, readdirSync, readFileSync } from 'node:fs';

const O_CLOEXEC = 0o2000000;

/** Called once, before the first job. Does nothing where there is no `/proc`. */
export function closeInheritedDescriptors(): void {
  for (const fd of openDescriptors()) if (fd > 2 && isInherited(fd)) closeSync(fd);
}

function openDescriptors(): number[] {
  return orElse(() => readdirSync('/proc/self/fd').map(Number), []);
}

function isInherited(fd: number): boolean {
  const flags = orElse(
    () => /^flags:\s+([0-7]+)$/m.exec(readFileSync(`/proc/self/fdinfo/${fd}`, 'latin1'))?.[1],
    undefined,
  );
  return flags !== undefined && (Number.parseInt(flags, 8) & O_CLOEXEC) === 0;
}

/** `fallback` where there is no /proc, and for the descriptor that listed the others and is closed again. */
function orElse<T>(read: () => T, fallback: T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return fallback;
    throw error;
  }
}
