/**
 * Watch listeners by path, in one session.
 *
 * One server watch per distinct path serves all listeners of that path. For nested watched paths the server notifies a client
 * once per change, not once per watch: so every event is passed to the listeners of its path and of all paths above.
 */
import { parentPath } from '../node-path.ts';
import type { WatchEvent } from '../port.ts';

type Listener = (event: WatchEvent) => void;

/** The watches that a session sets again on each connection. */
export class WatchTable {
  readonly #byPath = new Map<string, Set<Listener>>();

  /** Distinct, in the order they were first watched. */
  get paths(): Iterable<string> {
    return this.#byPath.keys();
  }

  /**
   * @param onLast called when `path` has no listener left.
   * @returns whether this is the first watch of `path`, and a function that ends it.
   */
  add(path: string, listener: Listener, onLast: () => void): { readonly isFirst: boolean; end(): void } {
    // A wrapper of its own, so that one function may watch one path twice.
    const entry: Listener = event => listener(event);
    const known = this.#byPath.get(path);
    const listeners = known ?? new Set();
    this.#byPath.set(path, listeners.add(entry));
    const end = (): void => {
      if (!listeners.delete(entry) || listeners.size > 0) return;
      this.#byPath.delete(path);
      onLast();
    };
    return { isFirst: known === undefined, end };
  }

  /**
   * Notifies the listeners at or above the event's path, each in a microtask of its own: before any promise that is settled
   * later, and a listener that throws affects neither the others nor the connection.
   */
  announce(event: WatchEvent): void {
    for (let path = event.path; ; path = parentPath(path)) {
      this.#notify(this.#byPath.get(path), event);
      if (path === '/') return;
    }
  }

  /** Notifies every watch, at its own path, that events may have been missed. */
  announceResync(): void {
    for (const [path, listeners] of this.#byPath) this.#notify(listeners, { kind: 'resync', path });
  }

  clear(): void {
    for (const listeners of this.#byPath.values()) listeners.clear();
    this.#byPath.clear();
  }

  #notify(listeners: ReadonlySet<Listener> | undefined, event: WatchEvent): void {
    for (const listener of listeners ?? []) {
      queueMicrotask(() => {
        if (listeners?.has(listener)) listener(event);
      });
    }
  }
}
