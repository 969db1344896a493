/**
 * Time and chance of the platform, replaced for a run: timers ring in virtual time and belong to the process that set them;
 * any code that asks the platform for the time or a random number is an error, because the run could not be repeated.
 */
import type { SimEvent } from './event-heap.ts';
import type { Kernel } from './kernel.ts';

export function installGlobals(kernel: Kernel): Disposable {
  const real = { setTimeout, clearTimeout, setInterval, setImmediate, Date, random: Math.random };
  const timers = new WeakMap<object, SimEvent>();

  function simSetTimeout(action: (...args: unknown[]) => void, ms = 0, ...args: unknown[]): object {
    const owner = kernel.current;
    const timer = { unref: () => timer, ref: () => timer };
    if (owner === undefined) return real.setTimeout(action, ms, ...args);
    timers.set(
      timer,
      kernel.after(Math.max(1, ms), owner, `${owner.name} timer`, () => action(...args)),
    );
    return timer;
  }
  function simClearTimeout(timer: unknown): void {
    const event = typeof timer === 'object' && timer !== null ? timers.get(timer) : undefined;
    if (event !== undefined) event.cancelled = true;
    else if (timer instanceof Object && 'hasRef' in timer)
      Reflect.apply(real.clearTimeout, undefined, [timer]);
  }
  /** The world itself (progress lines, deadlines of the command) may know the time; what is simulated may not. */
  const forbid = (what: string) => {
    if (kernel.current !== undefined)
      throw new Error(
        `${what} is used inside the simulation: it must come from the clock or the ids handed in`,
      );
  };
  const guarded = <A extends readonly unknown[], R>(what: string, call: (...args: A) => R) => {
    return (...args: A): R => {
      forbid(what);
      return call(...args);
    };
  };
  const SimDate = new Proxy(real.Date, {
    construct(target, args, newTarget) {
      if (args.length === 0) forbid('new Date()');
      const made: unknown = Reflect.construct(target, args, newTarget);
      return made instanceof target ? made : new target(0);
    },
    get(target, key, receiver) {
      return key === 'now' ? guarded('Date.now()', target.now) : Reflect.get(target, key, receiver);
    },
  });
  Object.assign(globalThis, {
    setTimeout: simSetTimeout,
    clearTimeout: simClearTimeout,
    setInterval: guarded('setInterval', real.setInterval),
    setImmediate: guarded('setImmediate', real.setImmediate),
    Date: SimDate,
  });
  Object.assign(Math, { random: guarded('Math.random()', real.random) });
  return {
    [Symbol.dispose]() {
      const { random, ...platform } = real;
      Object.assign(globalThis, platform);
      Object.assign(Math, { random });
    },
  };
}
