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

/** A halt, and what it means for what must run all the same. */
export interface BuildHalt extends Halt {
  /** Aborts for all reasons but a cancel: for playbooks that clean up. */
  readonly despiteCancel: Halt;
}

/** Where several sources have aborted already, a lost claim counts first, then a cancel. Dispose of it to stop listening. */
export function createHalt(sources: Readonly<Record<HaltReason, AbortSignal>>): BuildHalt & Disposable {
  const { cancelled: _, ...others } = sources;
  const despiteCancel = haltOf(others);
  const halt = haltOf(sources);
  return {
    ...halt,
    despiteCancel,
    [Symbol.dispose]: () => {
      halt[Symbol.dispose]();
      despiteCancel[Symbol.dispose]();
    },
  };
}

function haltOf(sources: Readonly<Partial<Record<HaltReason, AbortSignal>>>): Halt & Disposable {
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
  for (const why of ['lost', 'cancelled', 'executor-stopped'] as const) {
    const source = sources[why];
    if (source !== undefined) listen(why, source);
  }
  return { signal: controller.signal, reason: () => reason, [Symbol.dispose]: () => undo.abort() };
}
