/**
 * Gives the event loop its turn in the middle of a long computation: awaited often, waits rarely.
 *
 *     for (const entry of entries) { …; if (turnIsUsed()) await nextTurn(); }
 *
 * All computations of the process share one slice per turn, so a hundred of them at once delay a timer or a socket no longer
 * than one. Who waited longest goes on first.
 */

/** Milliseconds of computing between two turns of the event loop. */
const SLICE = 10;

let sliceBegan = Number.NEGATIVE_INFINITY;
const waiting: (() => void)[] = [];

/** Whether the computations of this turn have had their slice. */
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
