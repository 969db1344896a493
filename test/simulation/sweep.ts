/**
 * The crash-point sweep: a scenario without faults numbers all calls of ports; then, for each call, the caller is killed
 * there: before it is sent (`before`), when it took effect and the reply is out (`effect`), or when the reply came and it has acted
 * on it (`reply`); or it is only stopped there until its session is long over. Another process goes on, or the same one started again; everything must come to rest and hold.
 */
import type { PointPhase } from './kernel/kernel.ts';
import { type Outcome, type RunOptions, simulate } from './run.ts';
import type { Scenario } from './scenario.ts';
import { SESSION_TIMEOUT } from './world.ts';

const PHASES: readonly PointPhase[] = ['before', 'effect', 'reply'];

/** What is done at each call. */
const STRIKES: readonly Strike[] = [
  ...PHASES.map(phase => ({ phase })),
  // The answer waits for it: what it decided long ago it would now do.
  { phase: 'effect', how: 'pause' },
  { phase: 'before', how: 'break' },
  { phase: 'effect', how: 'break' },
];

/** What is done to a process at one of its calls: it is killed, unless it is only stopped. */
export interface Strike {
  readonly phase: PointPhase;
  /** Default: killed. `pause`: stopped for three session timeouts. `break`: its line to the store breaks. */
  readonly how?: 'pause' | 'break';
}

export interface CrashPoint extends Strike {
  readonly index: number;
}

export interface SweptPoint extends CrashPoint {
  readonly process: string;
  readonly label: string;
  readonly outcome: Outcome;
}

const SEED = 1;

/** A run in which nothing goes wrong. */
export interface CalmRun {
  readonly outcome: Outcome;
  /** Of the calls it makes until it is at rest, in order. */
  readonly labels: readonly string[];
}

/** @param options `short`: only until it is at rest. */
export async function calmRun(
  scenario: Scenario,
  options: Partial<Pick<RunOptions, 'seed' | 'short'>> = {},
): Promise<CalmRun> {
  const labels: string[] = [];
  const outcome = await simulate({
    seed: SEED,
    scenario,
    faults: [],
    ...options,
    onCall: label => labels.push(label),
  });
  return { outcome, labels: labels.slice(0, outcome.pointsUntilRest) };
}

/** @returns undefined when the run ended before that call. */
export async function crashAt(
  scenario: Scenario,
  at: CrashPoint,
  options: Partial<Pick<RunOptions, 'seed' | 'story' | 'first'>> = {},
): Promise<SweptPoint | undefined> {
  let struck: { readonly process: string; readonly label: string } | undefined;
  const outcome = await simulate({
    seed: SEED,
    scenario,
    faults: [],
    short: true,
    ...options,
    onPoint(point, phase, world) {
      if (struck !== undefined || point.index !== at.index || phase !== at.phase) return;
      struck = { process: point.process.name, label: point.label };
      // Sometimes it is back before its session ends, sometimes another one has to go on.
      const { name } = point.process;
      if (at.how === 'pause') world.pause(name, 3 * SESSION_TIMEOUT);
      else if (at.how === 'break')
        for (const session of world.sessionsOf(name)) session.break('it was cut on purpose');
      else world.crash(point.process.name, at.index % 2 === 0 ? 300 : 25_000);
    },
  });
  return struck === undefined ? undefined : { ...at, ...struck, outcome };
}

export interface PointChoice {
  /** Every so many-th call; more than 1: the kinds take turns. */
  readonly stride?: number;
  /** Begin with the call after so many. */
  readonly offset?: number;
  /** So many of the first calls come after the others. */
  readonly last?: number;
  /** Only calls whose label begins so. */
  readonly label?: string;
  /** Only this kind of blow. */
  readonly strike?: Strike;
}

export function pointsOf(labels: readonly string[], choice: PointChoice): readonly CrashPoint[] {
  const { stride = 1, offset = 0, last = 0, label = '', strike } = choice;
  const calls = labels.flatMap((each, index) => (each.startsWith(label) ? [index + 1] : []));
  const chosen = calls.filter((_, index) => index >= offset && (index - offset) % stride === 0);
  const ordered = [...chosen.slice(last), ...chosen.slice(0, last)];
  return ordered.flatMap((index, turn) => {
    const kinds = strike !== undefined ? [strike] : stride === 1 ? STRIKES : [STRIKES[turn % STRIKES.length]];
    return kinds.flatMap(kind => (kind === undefined ? [] : [{ index, ...kind }]));
  });
}

/** `effect`, `effect/pause`, `before/break`, ...; undefined: there is no such blow. */
export function parseStrike(text: string): Strike | undefined {
  const [name, how] = text.split('/');
  const phase = PHASES.find(each => each === name);
  if (phase === undefined) return undefined;
  return how === 'pause' || how === 'break' ? { phase, how } : { phase };
}

export function pointText({ index, phase, how }: CrashPoint): string {
  return `${index}/${phase}${how === undefined ? '' : `/${how}`}`;
}
