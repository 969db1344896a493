/**
 * Whose spans are kept.
 *
 * By ratio, when an event comes in: a function of the event's uuid, so that every process and every repetition decides alike.
 * The decision is stored with the event and with all it leads to, and obeyed by everything below, jobs included. What the ratio
 * leaves out may still be kept for its outcome, see keep.ts.
 *
 * The decision is that of OpenTelemetry's consistent probability sampling: a number of 56 bits is drawn for the event, and the
 * event is kept when it is not below a threshold that follows from the ratio. Our trace ids come from uuids and do not carry that
 * number, so jobs are told it as W3C trace state; a sampler further down that keeps a smaller share keeps a part of ours.
 *
 *     TRACESTATE=ot=rv:6e6d1a75832a2f               the number drawn; everything is kept
 *     TRACESTATE=ot=th:b333333333333;rv:e4c9…       kept with ratio 0.3: the number is not below the threshold
 */
import { sha256, type Uuid } from '../lib/ids.ts';

/** Hexadecimal digits of the number drawn. */
const DIGITS = 14;
const RANGE = 2 ** 56;

/** @param ratio share of events kept, 0 to 1. */
export function isSampled(event: Uuid, ratio: number): boolean {
  return BigInt(`0x${drawnFor(event)}`) >= threshold(ratio);
}

/**
 * W3C trace state of everything the event leads to.
 *
 * @param ratio as it is now; the event was decided on a moment ago, perhaps by another one. A threshold that contradicts the
 *   decision is not told.
 */
export function traceStateOf(event: Uuid, sampled: boolean, ratio: number): string {
  const told = sampled && ratio < 1 && isSampled(event, ratio) ? [`th:${thresholdText(ratio)}`] : [];
  return `ot=${[...told, `rv:${drawnFor(event)}`].join(';')}`;
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
