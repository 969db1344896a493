/**
 * Errors of a code host that are not about the request, which is retried then. Drivers mark them on the error (`retryable`).
 */
import type { HostTrouble, HostTroubleReason } from '../model/host-trouble.ts';
import type { ProjectKey } from '../model/project.ts';

/** @param error of any call of a driver. False: the request itself is at fault, and asking again gives the same. */
export function isRemoteFault(error: unknown): boolean {
  return error instanceof Error && 'retryable' in error && error.retryable === true;
}

/** Milliseconds before the second, third, ... attempt; the last one repeats. */
export const REMOTE_PAUSES = [100, 500, 2_000, 5_000, 15_000, 30_000] as const;

const REASONS: readonly HostTroubleReason[] = [
  ...(['unreachable', 'limited', 'denied', 'timeout', 'locked', 'bad-url', 'too-large', 'aborted'] as const),
];

/** A driver's error as host trouble: its reason, `other` when it names none, and its first line. */
export function troubleOf(error: unknown): Pick<HostTrouble, 'reason' | 'text'> {
  const text = error instanceof Error ? error.message : String(error);
  const named = error instanceof Error && 'reason' in error ? error.reason : undefined;
  return { reason: REASONS.find(reason => reason === named) ?? 'other', text: text.split('\n')[0] ?? '' };
}

/** The same for the item that waits for the host. */
export function hostTroubleOf(error: unknown, project: ProjectKey): HostTrouble {
  return { project, ...troubleOf(error), ...(isUnsettled(error) ? { unsettled: true } : {}) };
}

/** A landing was sent, and its outcome is unknown. */
function isUnsettled(error: unknown): boolean {
  return error instanceof Error && 'unsettled' in error && error.unsettled === true;
}
