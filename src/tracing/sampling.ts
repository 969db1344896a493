/**
 * Which events are sampled.
 *
 * Decided by ratio when an event arrives, as a function of its uuid, so that every process and every retry decides the same. The
 * decision is stored with the event and its consequences and obeyed by all of them, jobs included. An unsampled item may still be
 * exported because of its outcome, see keep.ts.
 *
 * The rule is OpenTelemetry's consistent probability sampling: a random number of 56 bits is drawn for the event, and the event is
 * sampled when the number is not below a threshold computed from the ratio. Our trace ids come from uuids and do not carry that
 * number, so jobs get it in the W3C trace state; a sampler downstream with a smaller ratio then keeps a subset.
 *
 *     TRACESTATE=ot=rv:6e6d1a75832a2f               the random number; ratio 1
 *     TRACESTATE=ot=th:b333333333333;rv:e4c9…       sampled with ratio 0.3: the number is not below the threshold
 */
import { sha256, type Uuid } from '../lib/ids.ts';

/** Hexadecimal digits of the random number. */
const DIGITS = 14;
const RANGE = 2 ** 56;

/** @param ratio share of events to sample, 0 to 1. */
export function isSampled(event: Uuid, ratio: number): boolean {
  return BigInt(`0x${drawnFor(event)}`) >= threshold(ratio);
}

/**
 * W3C trace state of the event and its consequences.
 *
 * @param ratio the current one; the decision may have been made with another. A threshold that contradicts the decision is left
 *   out.
 */
export function traceStateOf(event: Uuid, sampled: boolean, ratio: number): string {
  const members = sampled && ratio < 1 && isSampled(event, ratio) ? [`th:${thresholdText(ratio)}`] : [];
  return `ot=${[...members, `rv:${drawnFor(event)}`].join(';')}`;
}

function drawnFor(event: Uuid): string {
  return sha256(event).slice(0, DIGITS);
}

/** Numbers below are not kept. */
function threshold(ratio: number): bigint {
  return BigInt(Math.round((1 - ratio) * RANGE));
}

/** Without the zeros at its end, as the standard writes it. */
function thresholdText(ratio: number): string {
  return threshold(ratio).toString(16).padStart(DIGITS, '0').replace(/0+$/, '') || '0';
}
