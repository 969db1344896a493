/** A bounded number of workers for any number of users; each user disposes of its calls as if it had a worker of its own. */
import type { Calls } from './calls.ts';

interface Shared<Table> {
  readonly calls: Calls<Table>;
  users: number;
}

/**
 * @param most workers.
 * @param open makes one more.
 * @returns opens the calls of one more user: to a worker of its own while there are fewer than `most`, or else to one of those with the
 * fewest users. A worker ends with the last of its users.
 */
export function sharedCalls<Table, Argument>(
  most: number,
  open: (argument: Argument) => Calls<Table>,
): (argument: Argument) => Calls<Table> {
  const workers = new Set<Shared<Table>>();

  function join(argument: Argument): Shared<Table> {
    const least = Math.min(...[...workers].map(({ users }) => users));
    const found = workers.size < most ? undefined : [...workers].find(({ users }) => users === least);
    const worker = found ?? { calls: open(argument), users: 0 };
    worker.users += 1;
    workers.add(worker);
    return worker;
  }

  return argument => {
    const worker = join(argument);
    let isOpen = true;
    return {
      call: (name, each) => worker.calls.call(name, each),
      async [Symbol.asyncDispose]() {
        if (!isOpen) return;
        isOpen = false;
        worker.users -= 1;
        if (worker.users > 0) return;
        workers.delete(worker);
        await worker.calls[Symbol.asyncDispose]();
      },
    };
  };
}
