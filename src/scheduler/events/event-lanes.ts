/**
 * Which events of a connection may be processed next: in order within each lane, lanes in turns.
 *
 *     waiting ──take──► busy ──done──► gone; the lane's next event waits
 *        ▲               │
 *        └─release─ held ◄──hold── put back in front; the lane pauses, the others go on
 *
 * Of an event only its path in the queue is kept, so that any number may wait.
 */
interface WaitingEvent {
  /** Of its node in the queue. */
  readonly path: string;
  /** Events of one lane with equal keys are taken together; undefined: this one is taken alone. */
  readonly readKey: string | undefined;
}

/** Events of one lane that are processed together; end it with `done` or `hold`. */
export interface LaneTurn<Hold> {
  readonly lane: string;
  /** At least one. */
  readonly events: readonly [WaitingEvent, ...WaitingEvent[]];
  /** Why the first of them was held before; undefined: it is taken for the first time. */
  readonly hold: Hold | undefined;
}

/** The order of a connection's events, in memory. `Hold` is what the caller keeps between attempts. */
export interface EventLanes<Hold> {
  /** At the end of the lane. Add each event once. */
  add(lane: string, event: WaitingEvent): void;
  /**
   * From the lane that has waited longest; undefined: every lane is empty, busy or held.
   *
   * @param retries also from lanes that were held; others come first.
   */
  take(retries: boolean): LaneTurn<Hold> | undefined;
  /** The events taken are out of the queue. */
  done(lane: string): void;
  /** Events that were added since, and wait. */
  waiting(lane: string): number;
  /** The events taken stay in the queue, and the lane pauses until `release`. */
  hold(turn: LaneTurn<Hold>, hold: Hold): void;
  /** The pause of a held lane is over: it can be taken as a retry. */
  release(lane: string): void;
  /** Lanes that are held, or are being retried after a hold. */
  troubled(): Iterable<readonly [lane: string, hold: Hold]>;
}

interface Lane<Hold> {
  waiting: WaitingEvent[];
  /** Its events are being processed, or it is held. */
  busy: boolean;
  hold: Hold | undefined;
}

/** Events processed with one read: each is an operation of its commit. */
const MOST_TOGETHER = 200;

/** Empty: after each restart of the loop the events of the queue are added again. */
export function createEventLanes<Hold>(): EventLanes<Hold> {
  const lanes = new Map<string, Lane<Hold>>();
  /** In the order in which they became ready. */
  const ready = new Set<string>();
  /** The same, of those that were held. */
  const readyAgain = new Set<string>();

  function free(name: string, lane: Lane<Hold>): void {
    lane.busy = false;
    if (lane.waiting.length === 0) lanes.delete(name);
    else if (lane.hold === undefined) ready.add(name);
    else readyAgain.add(name);
  }

  return {
    add(name, event) {
      const lane = lanes.get(name) ?? { waiting: [], busy: false, hold: undefined };
      lanes.set(name, lane);
      lane.waiting.push(event);
      // A lane that was held is in `readyAgain`.
      if (!lane.busy && lane.hold === undefined) ready.add(name);
    },
    take(retries) {
      const [name] = ready.size > 0 || !retries ? ready : readyAgain;
      const lane = name === undefined ? undefined : lanes.get(name);
      if (name === undefined || lane === undefined) return undefined;
      ready.delete(name);
      readyAgain.delete(name);
      lane.busy = true;
      return { lane: name, events: takeNext(lane), hold: lane.hold };
    },
    done(name) {
      const lane = lanes.get(name);
      if (lane === undefined) return;
      lane.hold = undefined;
      free(name, lane);
    },
    waiting: name => lanes.get(name)?.waiting.length ?? 0,
    hold({ lane: name, events }, hold) {
      const lane = lanes.get(name);
      if (lane === undefined) return;
      lane.waiting = [...events, ...lane.waiting];
      lane.hold = hold;
    },
    release(name) {
      const lane = lanes.get(name);
      if (lane !== undefined) free(name, lane);
    },
    *troubled() {
      for (const [name, { hold }] of lanes) if (hold !== undefined) yield [name, hold];
    },
  };
}

function takeNext(lane: Lane<unknown>): LaneTurn<unknown>['events'] {
  const first = lane.waiting.shift();
  if (first === undefined) throw new RangeError('an empty lane has no event to take');
  const taken: [WaitingEvent, ...WaitingEvent[]] = [first];
  if (first.readKey === undefined) return taken;
  const rest: WaitingEvent[] = [];
  for (const each of lane.waiting) {
    if (each.readKey === first.readKey && taken.length < MOST_TOGETHER) taken.push(each);
    else rest.push(each);
  }
  lane.waiting = rest;
  return taken;
}
