/** The latest readings of changes, bounded. */

import { createLru } from '../../../src/git/support/lru.ts';
import type { Nanoseconds } from '../../../src/lib/clock.ts';
import type { ChangeInfo } from '../api/change-info.ts';

/** A change as it was at `readAt`, when its read began, or later. */
export interface ReadChange {
  readonly info: ChangeInfo;
  readonly readAt: Nanoseconds;
}

/** What is asked of a change. */
export interface WantedChange {
  readonly number: number;
  /** A reading that began before is too old. */
  readonly notBefore: Nanoseconds;
  /** An answer that does not know this patch set is too old; null: any. */
  readonly patchset: number | null;
}

/** In the memory of one process. */
export interface ChangeReadings {
  /** One that is as new as wanted, if there is any. */
  find(wanted: WantedChange): ReadChange | undefined;
  /** The latest one, of any age. */
  latest(number: number): ReadChange | undefined;
  /** Unless a newer one is known, or one of a later state: the index of a listing may be behind. */
  keep(reading: ReadChange): void;
}

/** Readings of average size. */
const MOST = 1_000;
/** Of one of average size. */
const CHARACTERS = 20_000;

export function createChangeReadings(): ChangeReadings {
  const readings = createLru<number, ReadChange>(MOST, weightOf);
  return {
    latest: number => readings.get(number),
    find({ number, notBefore, patchset }) {
      const known = readings.get(number);
      if (known === undefined || BigInt(known.readAt) < BigInt(notBefore)) return undefined;
      return known.info.revision.number >= (patchset ?? 0) ? known : undefined;
    },
    keep(reading) {
      const known = readings.get(reading.info.number);
      if (known !== undefined && BigInt(known.readAt) > BigInt(reading.readAt)) return;
      if (known !== undefined && isBehind(reading.info, known.info)) return;
      readings.set(reading.info.number, reading);
    },
  };
}

/** Whether `info` shows an earlier state than `known`. */
export function isBehind(info: ChangeInfo, known: ChangeInfo): boolean {
  return BigInt(info.updatedAt) < BigInt(known.updatedAt) || info.revision.number < known.revision.number;
}

/** A change with a long history counts as many. */
function weightOf({ info }: ReadChange): number {
  const characters = info.messages.reduce((sum, { text }) => sum + text.length, info.revision.message.length);
  return 1 + Math.floor(characters / CHARACTERS);
}
