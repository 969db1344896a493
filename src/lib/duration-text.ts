/**
 * A duration for people: `340ms`, `4.2s`, `1m 02s`, `3h 05m`.
 *
 * @param ms milliseconds, not negative.
 */
export function durationText(ms: number): string {
  if (ms < 999.5) return `${Math.round(ms)}ms`;
  if (ms < 9_950) return `${(ms / 1000).toFixed(1)}s`;
  const seconds = Math.round(ms / 1000);
  if (seconds < 60) return `${seconds}s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes}m ${two(seconds % 60)}s`;
  return `${Math.floor(minutes / 60)}h ${two(minutes % 60)}m`;
}

function two(value: number): string {
  return String(value).padStart(2, '0');
}
