/**
 * A process: an object graph and a generation. To kill it is to raise the generation: what it asked for never answers, its
 * timers never ring, and code of it that still runs reaches nothing. Its store session lives on at the server for a while,
 * as that of a killed process does.
 */
import type { SimEvent } from './event-heap.ts';

export class SimProcess {
  readonly name: string;
  /** Grows with each start and each death. */
  generation = 0;
  alive = false;
  paused = false;
  /** Events that are due while it is paused, in order. */
  held: SimEvent[] = [];
  /** Times it was started. */
  starts = 0;
  /** Milliseconds its wall clock is off; read at its start. */
  clockOffset = 0;
  constructor(name: string) {
    this.name = name;
  }
}
