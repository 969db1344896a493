/** Why a build must end early. The first reason counts. */
export type HaltReason =
  /** The scheduler cancelled it: result CANCELED. */
  | 'cancelled'
  /** The claim is gone, nothing may be reported. */
  | 'lost'
  /** The executor stops immediately: the build is tried again elsewhere. */
  | 'executor-stopped';

/** The end of a build from outside: one signal for all causes. */
export interface Halt {
  readonly signal: AbortSignal;
  /** Undefined until {@link Halt.signal} aborts. */
  reason(): HaltReason | undefined;
}

/** Where several sources have aborted already, a lost claim counts first, then a cancel. Dispose of it to stop listening. */
export function createHalt(sources: Readonly<Record<HaltReason, AbortSignal>>): Halt & Disposable {
  const controller = new AbortController();
  const undo = new AbortController();
  let reason: HaltReason | undefined;
  function listen(why: HaltReason, source: AbortSignal): void {
    const halt = () => {
      reason ??= why;
      controller.abort();
    };
    if (source.aborted) halt();
    else source.addEventListener('abort', halt, { once: true, signal: undo.signal });
  }
  listen('lost', sources.lost);
  listen('cancelled', sources.cancelled);
  listen('executor-stopped', sources['executor-stopped']);
  return { signal: controller.signal, reason: () => reason, [Symbol.dispose]: () => undo.abort() };
}
