import type { Uuid } from '../../lib/ids.ts';

/** The master key of the keystore, for data that only executors may read. What is sealed for one build opens for no other. */
export interface DataSeal {
  sealData(build: Uuid, text: string): string;
  /** Undefined: it was sealed with another key. */
  openData(build: Uuid, sealed: string): string | undefined;
}
