/**
 * Whose spans are kept.
 *
 * By ratio, when an event comes in: a function of the event's uuid, so that every process and every repetition decides alike.
 * The decision is stored with the event and with all it leads to, and obeyed by everything below, jobs included.
 */
import { sha256, type Uuid } from '../lib/ids.ts';

/** Hexadecimal digits of the number drawn: 56 bits, as in OpenTelemetry's consistent probability sampling. */
const DIGITS = 14;
const RANGE = 2 ** 56;

/** @param ratio share of events kept, 0 to 1. */
export function isSampled(event: Uuid, ratio: number): boolean {
  return Number.parseInt(sha256(event).slice(0, DIGITS), 16) < ratio * RANGE;
}
