/** What a session said about itself, and when; order across sessions is what partition tests are about. */
import type { SessionState, Store } from '../../../src/store/port.ts';

export interface StateEntry {
  readonly state: SessionState;
  /** `performance.now()`. */
  readonly at: number;
}

export class StateLog {
  readonly entries: StateEntry[] = [];

  constructor(store: Store) {
    store.onSessionState(state => this.entries.push({ state, at: performance.now() }));
  }

  get states(): readonly SessionState[] {
    return this.entries.map(({ state }) => state);
  }

  /** When the state was first reported; undefined when never. */
  first(state: SessionState): number | undefined {
    return this.entries.find(entry => entry.state === state)?.at;
  }
}
