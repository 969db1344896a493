/** How the host serves the connection, for the API, metrics and people. No decision depends on it. */
import type { ConnectionHealth } from '../model/connection-health.ts';

/** Health of one connection in this process. */
export interface HealthView {
  /** As this process knows it, without asking the host. */
  now(): ConnectionHealth;
  /** Calls `listener` after each change of `now()`, until disposed. */
  onChange(listener: () => void): Disposable;
}
