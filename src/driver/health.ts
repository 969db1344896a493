/** What the driver knows of its host, for the API, metrics and people. */
import type { ConnectionHealth } from '../model/connection-health.ts';

export interface HealthView {
  /** Of this process. */
  now(): ConnectionHealth;
  /** Calls back when something of it is different. */
  onChange(listener: () => void): Disposable;
}
