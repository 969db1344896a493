import { vi } from 'vitest';

/** Milliseconds: a busy machine takes its time. */
const DEADLINE = 10_000;

/** Waits for a loop of the scheduler to have come so far. @param check throws until then. */
export function untilMet(check: () => void | Promise<void>): Promise<void> {
  return vi.waitFor(check, { timeout: DEADLINE, interval: 5 });
}
