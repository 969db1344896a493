/** Watch listeners by path, of all sessions: a change costs as many look-ups as its path is deep, however many sessions and watches there are. */
import { parentPath } from '../node-path.ts';
import type { WatchEvent } from '../port.ts';

type Listener = (event: WatchEvent) => void;

/** The watches of a server; an event also reaches those above its path. */
export class Watches {
  readonly #byPath = new Map<string, Set<Listener>>();

  add(path: string, listener: Listener): Disposable {
    // A wrapper of its own, so that one function may watch one path twice.
    const entry: Listener = event => listener(event);
    const listeners = this.#byPath.get(path) ?? new Set();
    this.#byPath.set(path, listeners.add(entry));
    return {
      [Symbol.dispose]: () => {
        listeners.delete(entry);
        if (listeners.size === 0 && this.#byPath.get(path) === listeners) this.#byPath.delete(path);
      },
    };
  }

  /**
   * Notifies the listeners at or above the event's path, each in a microtask of its own: a listener that throws is an
   * uncaught error of its own and does not affect the others. One that is disposed of meanwhile is not called.
   */
  announce(event: WatchEvent): void {
    for (let path = event.path; ; path = parentPath(path)) {
      const listeners = this.#byPath.get(path);
      for (const listener of listeners ?? []) {
        queueMicrotask(() => {
          if (listeners?.has(listener)) listener(event);
        });
      }
      if (path === '/') return;
    }
  }
}
