import type { Json } from '../model/job.ts';

/**
 * The driver's own durable memory of one connection, in the store: values of at most some hundred kilobytes under short keys.
 * `ProcessedEvent.memory` writes it.
 */
export interface DriverMemory {
  /** Undefined: nothing was stored under the key. @throws when the store cannot be read; the caller tries again. */
  get(key: string): Promise<Json | undefined>;
}
