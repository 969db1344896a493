/** What the two loops of a listener share: how the stream is, and whether it may have missed something. */
import type { Watch } from '../../../src/driver/intake.ts';
import type { Clock, Nanoseconds } from '../../../src/lib/clock.ts';
import { projectIdOf } from '../../../src/model/project.ts';
import type { GerritOptions } from '../options.ts';
import type { ReadFile } from '../ssh/ssh-place.ts';
import type { GerritPassDeps } from './pass-state.ts';

/** How the stream is, for metrics and people; not kept over a restart. */
export interface StreamState {
  readonly connected: boolean;
  /** Since when it is, or is not. */
  readonly since: Nanoseconds;
  /** When the last line came, of any project; null: none has. */
  readonly lastLineAt: Nanoseconds | null;
  /** How often it broke after it had been open. */
  readonly gaps: number;
  /** What passes found that it had not announced. */
  readonly missed: number;
  /** Why it is not connected; null: it is, or nothing has been tried. */
  readonly text: string | null;
  /** An operator has to act, as `text` says. */
  readonly isRefused: boolean;
}

/** Of one connection; tests replace waiting and chance. */
export interface GerritListenerDeps extends GerritPassDeps {
  readonly options: Pick<GerritOptions, 'server' | 'ssh' | 'streams' | 'keepAlive' | 'pollInterval'>;
  /** Ends early, without an error, when the signal aborts. */
  readonly wait: (milliseconds: number, signal: AbortSignal) => Promise<void>;
  /** 0 to 1. */
  readonly random: () => number;
  /** Called after each change; after lines at most once a second. Undefined: it is not read any more. */
  readonly noted?: (state: StreamState | undefined) => void;
  /** Default: of this machine. */
  readonly readFile?: ReadFile;
}

/** Of one call of `listen`. */
export interface Listening {
  readonly watch: Watch;
  readonly signal: AbortSignal;
  readonly deps: GerritListenerDeps;
  /** Names of the projects that any tenant has; at most a second old. */
  readonly names: () => ReadonlySet<string>;
  readonly state: () => StreamState;
  note(change: Partial<StreamState>): void;
  /** Something may have happened that the stream did not announce: looked up by the next pass that Gerrit answers. */
  gap: boolean;
  /** Ends the pause between passes. */
  wake(): void;
  /** Until the time is over, or something wakes; what woke before it waited counts. @returns whether something did. */
  pause(milliseconds: number): Promise<boolean>;
}

/** Milliseconds: reading them costs, and a flood of lines must not. */
const NAMES_KEPT = 1_000;

export function startListening(watch: Watch, signal: AbortSignal, deps: GerritListenerDeps): Listening {
  let waker = new AbortController();
  let state: StreamState = {
    connected: false,
    since: deps.clock.now(),
    lastLineAt: null,
    gaps: 0,
    missed: 0,
    text: null,
    isRefused: false,
  };
  return {
    ...{ watch, signal, deps, names: keptNames(watch, deps.clock), gap: true },
    state: () => state,
    note(change) {
      state = { ...state, ...change };
      deps.noted?.(state);
    },
    wake: () => waker.abort(),
    async pause(milliseconds) {
      await deps.wait(milliseconds, AbortSignal.any([signal, waker.signal]));
      const isWoken = waker.signal.aborted;
      waker = new AbortController();
      return isWoken;
    },
  };
}

function keptNames(watch: Watch, clock: Clock): () => ReadonlySet<string> {
  let at = Number.NEGATIVE_INFINITY;
  let kept: ReadonlySet<string> = new Set();
  return () => {
    if (clock.monotonic() - at >= NAMES_KEPT) {
      at = clock.monotonic();
      kept = new Set([...watch.projects()].map(project => projectIdOf(project).name));
    }
    return kept;
  };
}
