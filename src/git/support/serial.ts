/** Runs tasks one after another in the order given; a task that fails fails for its caller only. */
export type Serial = <T>(task: () => Promise<T>) => Promise<T>;

/** @returns a queue of its own. */
export function createSerial(): Serial {
  let last: Promise<unknown> = Promise.resolve();
  return task => {
    const result = last.then(task);
    last = result.catch(() => undefined);
    return result;
  };
}
