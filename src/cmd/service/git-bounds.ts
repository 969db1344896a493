/** Limits of a git process, from the settings. */
import type { GitOptions } from '../../git/process/git.ts';
import type { MergerSettings } from '../../settings/settings.ts';

/** Seconds → milliseconds, megabytes → bytes; null: no limit. */
export function gitBounds({
  gitTimeout,
  gitMemoryLimit,
}: Pick<MergerSettings, 'gitTimeout' | 'gitMemoryLimit'>): Pick<GitOptions, 'timeoutMs' | 'memoryBytes'> {
  return {
    timeoutMs: gitTimeout * 1000,
    memoryBytes: gitMemoryLimit === undefined ? null : gitMemoryLimit * 1_000_000,
  };
}
