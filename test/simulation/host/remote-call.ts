/** A call over the network to something that is not the store: the code host, the collector, the database, the web. */
import type { Incarnation } from '../kernel/incarnation.ts';
import type { Kernel } from '../kernel/kernel.ts';

export interface CallFaults {
  /** Milliseconds one way. */
  delay(process: string, remote: string): number;
  /** The request never arrives, its answer never comes back, or it is answered with an error. */
  trouble(process: string, remote: string): 'request' | 'reply' | 'refused' | undefined;
}

/** Milliseconds after which the caller gives up waiting. */
const TIMEOUT = 10_000;

export class RemoteTrouble extends Error {
  override readonly name = 'RemoteTrouble';
  readonly retryable = true;
}

export type RemoteCall = <T>(life: Incarnation, remote: string, label: string, serve: () => T) => Promise<T>;

export function remoteCalls(kernel: Kernel, faults: CallFaults, reached: (name: string) => void): RemoteCall {
  return (life, remote, label, serve) => {
    const { process } = life;
    if (!life.alive()) return new Promise(() => {});
    const text = `${remote} ${label}`;
    const point = kernel.point(process, text);
    if (point === undefined) return new Promise(() => {});
    const trouble = faults.trouble(process.name, remote);
    return new Promise((resolve, reject) => {
      const fail = (ms: number, why: string) => {
        reached(`${remote}: ${why}`);
        kernel.after(ms, process, `${process.name} ${text} fails`, () => {
          if (life.alive()) reject(new RemoteTrouble(`${remote}: ${why}`));
        });
      };
      if (trouble === 'request') return fail(TIMEOUT, 'the request was lost');
      kernel.after(faults.delay(process.name, remote), undefined, `${process.name} ${text}`, () => {
        if (trouble === 'refused') return fail(faults.delay(process.name, remote), 'internal error');
        const value = serve();
        kernel.story?.(`#${point.index} ${process.name} ${text}`);
        kernel.onPoint(point, 'effect');
        if (trouble === 'reply') return fail(TIMEOUT, 'the reply was lost');
        kernel.after(faults.delay(process.name, remote), process, `→ ${process.name} ${remote}`, () => {
          if (!life.alive()) return;
          resolve(value);
          kernel.answered(point);
        });
      });
    });
  };
}
