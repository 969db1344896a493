/** A heap of events by virtual time, then by a seeded number, then by order of making. */
import type { SimProcess } from './process.ts';

export interface SimEvent {
  readonly at: number;
  readonly tie: number;
  readonly sequence: number;
  readonly label: string;
  /** Whose code runs: held while it is paused, dropped when it died. Undefined: the world's own. */
  readonly owner: SimProcess | undefined;
  readonly generation: number;
  readonly run: () => void;
  cancelled: boolean;
}

export class EventHeap {
  readonly #events: SimEvent[] = [];

  get size(): number {
    return this.#events.length;
  }

  peek(): SimEvent | undefined {
    return this.#events[0];
  }

  push(event: SimEvent): void {
    const events = this.#events;
    let at = events.length;
    events.push(event);
    while (at > 0) {
      const up = (at - 1) >> 1;
      const parent = events[up];
      if (parent === undefined || before(parent, event)) break;
      events[at] = parent;
      at = up;
    }
    events[at] = event;
  }

  pop(): SimEvent | undefined {
    const events = this.#events;
    const top = events[0];
    const last = events.pop();
    if (top === undefined || last === undefined || top === last) return top;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      const left = events[child];
      if (left === undefined) break;
      const right = events[child + 1];
      if (right !== undefined && before(right, left)) child += 1;
      const smaller = events[child];
      if (smaller === undefined || before(last, smaller)) break;
      events[at] = smaller;
      at = child;
    }
    events[at] = last;
    return top;
  }
}

function before(a: SimEvent, b: SimEvent): boolean {
  if (a.at !== b.at) return a.at < b.at;
  return a.tie !== b.tie ? a.tie < b.tie : a.sequence < b.sequence;
}
