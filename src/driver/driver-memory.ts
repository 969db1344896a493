import type { Json } from '../model/job.ts';

/** The driver's own durable memory, kept by the caller in the store: small values under short keys. */
export interface DriverMemory {
  get(key: string): Promise<Json | undefined>;
}
