/**
 * Virtual time: one thread, a heap of events, and after each event all that follows from it in this instant (the microtasks)
 * before the next. Nothing else makes anything happen, so the same seed gives the same run.
 *
 *     const kernel = new Kernel(seed);
 *     kernel.after(20, undefined, 'hello', () => …);      // the world's own
 *     kernel.after(20, process, 'reply', () => …);        // held while the process is paused, dropped when it died
 *     await kernel.run(() => done, 60_000);
 *
 * Whose code runs is known at every moment (`current`): timers belong to the process that set them.
 */
import { EventHeap, type SimEvent } from './event-heap.ts';
import { SimProcess } from './process.ts';
import { type Random, stream, textHash } from './random.ts';

/** Kept aside before the globals are replaced. */
const realSetImmediate = setImmediate;

/** Owns what happens after the end of a run. */
const NO_PROCESS = new SimProcess('none');

export type RunEnd = 'met' | 'deadline' | 'idle';

/** Where in a call of a port a process may be killed. */
export type PointPhase = 'before' | 'effect' | 'reply';

export interface Point {
  readonly index: number;
  readonly process: SimProcess;
  readonly label: string;
}

export class Kernel {
  /** Virtual milliseconds since the start. */
  now = 0;
  /** Events that ran. */
  steps = 0;
  /** Changes with everything that happened, in order. */
  hash = 0x811c9dc5;
  current: SimProcess | undefined;
  /** Calls of ports so far. */
  points = 0;
  /** Called with each call at each phase; may kill the process. */
  onPoint: (point: Point, phase: PointPhase) => void = () => {};
  /** Called after each event, with all that followed from it done. */
  onStep: () => void = () => {};
  /** The last things that happened, for the story of a failure. */
  readonly recent: string[] = [];
  story: ((line: string) => void) | undefined;
  /** Whether `onPoint` hears of the phase `reply`: an event more per call, so all runs that are compared must agree. */
  reportReplies = false;
  readonly #heap = new EventHeap();
  readonly #order: Random;
  #sequence = 0;

  constructor(seed: number) {
    this.#order = stream(seed, 'order');
  }

  after(ms: number, owner: SimProcess | undefined, label: string, run: () => void): SimEvent {
    return this.at(this.now + Math.max(0, ms), owner, label, run);
  }

  at(at: number, owner: SimProcess | undefined, label: string, run: () => void): SimEvent {
    const event: SimEvent = {
      at,
      tie: this.#order.next(),
      sequence: this.#sequence++,
      label,
      owner,
      generation: owner?.generation ?? 0,
      run,
      cancelled: false,
    };
    this.#heap.push(event);
    return event;
  }

  /** Runs until `until` holds after an event, virtual time passes `deadline`, or nothing is left to happen. */
  async run(until: () => boolean, deadline: number): Promise<RunEnd> {
    for (;;) {
      const event = this.#heap.peek();
      if (event === undefined) return 'idle';
      if (event.at > deadline) {
        this.now = deadline;
        return 'deadline';
      }
      this.#heap.pop();
      if (event.cancelled || event.owner?.generation !== (event.owner && event.generation)) continue;
      if (event.at > this.now) this.now = event.at;
      if (event.owner?.paused === true) {
        event.owner.held.push(event);
        continue;
      }
      await this.#dispatch(event);
      if (until()) return 'met';
    }
  }

  note(line: string): void {
    this.hash = textHash(line, this.hash);
    this.recent.push(`${this.now.toFixed(1).padStart(9)} ms  ${line}`);
    if (this.recent.length > 400) this.recent.splice(0, 200);
    this.story?.(line);
  }

  /** A call of a port begins. @returns undefined when the process was killed at this very point. */
  point(process: SimProcess, label: string): Point | undefined {
    const point = { index: ++this.points, process, label };
    const { generation } = process;
    this.onPoint(point, 'before');
    return process.generation === generation ? point : undefined;
  }

  /** The answer of a call was handed over; what follows from it happens before the phase `reply` is reported. */
  answered(point: Point): void {
    if (this.reportReplies) this.after(0, undefined, 'answered', () => this.onPoint(point, 'reply'));
  }

  kill(process: SimProcess): void {
    process.generation += 1;
    process.alive = false;
    process.paused = false;
    process.held = [];
  }

  resume(process: SimProcess): void {
    process.paused = false;
    const { held } = process;
    process.held = [];
    // All at once, in the order they were due.
    for (const event of held) {
      if (event.cancelled || event.generation !== process.generation) continue;
      const again = this.at(this.now, process, event.label, () => {
        if (!event.cancelled) event.run();
      });
      void again;
    }
  }

  /** Does something after the end: what follows from it happens, timers it sets never ring. */
  async quietly(act: () => void): Promise<void> {
    this.current = NO_PROCESS;
    try {
      act();
      for (let round = 0; round < 3; round += 1) await new Promise(resolve => realSetImmediate(resolve));
    } finally {
      this.current = undefined;
    }
  }

  async #dispatch(event: SimEvent): Promise<void> {
    this.steps += 1;
    this.hash = textHash(event.label, this.hash ^ Math.round(this.now * 1000));
    this.current = event.owner;
    try {
      event.run();
      await new Promise(resolve => realSetImmediate(resolve));
    } finally {
      this.current = undefined;
    }
    this.onStep();
  }
}
