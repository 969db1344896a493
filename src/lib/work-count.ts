/**
 * Counts the work that a process holds, for what follows only while there is some:
 *
 *     using _work = count.hold();                   // until the end of the block
 *     await count.begun(signal);                    // elsewhere: waits while there is none
 */
export interface WorkCount {
  readonly isAtWork: boolean;
  /** One more piece of work, until disposed; disposing again does nothing. */
  hold(): Disposable;
  /** Resolves when there is work, immediately while there is; ends early, without an error, when aborted. */
  begun(signal: AbortSignal): Promise<void>;
}

export function createWorkCount(): WorkCount {
  const pieces = new Set<object>();
  const waiting = new Set<() => void>();
  return {
    get isAtWork() {
      return pieces.size > 0;
    },
    hold() {
      const piece = { [Symbol.dispose]: () => void pieces.delete(piece) };
      pieces.add(piece);
      for (const wake of [...waiting]) wake();
      return piece;
    },
    begun(signal) {
      if (pieces.size > 0 || signal.aborted) return Promise.resolve();
      return new Promise(resolve => {
        const wake = (): void => {
          waiting.delete(wake);
          signal.removeEventListener('abort', wake);
          resolve();
        };
        waiting.add(wake);
        signal.addEventListener('abort', wake, { once: true });
      });
    },
  };
}
