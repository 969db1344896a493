/**
 * Yields to the event loop in the middle of a long computation: awaited often, waits rarely.
 *
 *     for (const entry of entries) { …; if (turnIsUsed()) await nextTurn(); }
 *
 * All computations of the process share one slice per turn, so that a hundred of them together delay a timer or a socket no longer
 * than one. The one that has waited longest continues first.
 */

/** Milliseconds of computation between two turns of the event loop. */
const SLICE = 10;

let sliceBegan = Number.NEGATIVE_INFINITY;
const waiting: (() => void)[] = [];

/** Whether the computations of this turn have used up their slice. */
export function turnIsUsed(): boolean {
  return waiting.length > 0 || performance.now() - sliceBegan >= SLICE;
}

/** Resolves when timers and sockets have had their turn. */
export function nextTurn(): Promise<void> {
  return new Promise(resolve => {
    waiting.push(resolve);
    if (waiting.length === 1) setImmediate(goOn);
  });
}

function goOn(): void {
  sliceBegan = performance.now();
  waiting.shift()?.();
  if (waiting.length > 0) setImmediate(goOn);
}
