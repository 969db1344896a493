/**
 * The semaphores of a playbook: held from before it is started until it has ended, in any way. What frees them besides is the end
 * of the executor's session (`hold-slots.ts`).
 *
 * The wait counts as time of the phase, as in Zuul. A playbook that did not begin in that time is no verdict: the build is tried again.
 */
import type { Nanoseconds } from '../lib/clock.ts';
import type { SemaphoreHolder } from '../model/semaphore.ts';
import type { Step } from '../model/step.ts';
import type { HeldSlots } from '../store/hold-slots.ts';
import type { ExecutorDeps, TakenBuild } from './deps.ts';
import { halted } from './judge-playbook.ts';
import type { PlaybookEnd } from './outcome.ts';
import type { PlaybookRun, RunnerBuild } from './runner.ts';

type Waiting = Pick<RunnerBuild, 'halt' | 'log'> &
  Pick<TakenBuild, 'hold'> & { readonly deps: Pick<ExecutorDeps, 'clock'> };

/** `ended`: it cannot begin. `wait` is there where it had to wait. */
export type SemaphoresOfPlaybook =
  | { readonly kind: 'held'; readonly slots: HeldSlots; readonly waitedMs: number; readonly wait?: Step }
  | { readonly kind: 'ended'; readonly end: PlaybookEnd; readonly wait: Step };

/** @param run one with semaphores. */
export async function takeSemaphores(
  { halt, log, hold, deps: { clock } }: Waiting,
  { playbook, phase, timeoutMs }: Pick<PlaybookRun, 'playbook' | 'phase' | 'timeoutMs'>,
): Promise<SemaphoresOfPlaybook> {
  const names = (playbook.holds ?? []).map(({ name }) => name).join(', ');
  const [since, begun] = [clock.now(), clock.monotonic()];
  let holders: string | undefined;
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(), timeoutMs);
  try {
    const slots = await hold(playbook, {
      signal: AbortSignal.any([halt.signal, late.signal]),
      onFull(heldBy) {
        holders = holdersText(heldBy);
        void log.line(`${phase.toUpperCase()} WAITS for semaphores of ${playbook.path}: ${names}${holders}`);
      },
    });
    const waitedMs = clock.monotonic() - begun;
    const wait = (result: NonNullable<Step['result']>): Step => waitStep(names, since, clock.now(), result);
    if (slots !== undefined)
      return { kind: 'held', slots, waitedMs, ...(holders === undefined ? {} : { wait: wait('SUCCESS') }) };
    if (halt.signal.aborted) return { kind: 'ended', end: halted(halt), wait: wait('ABORTED') };
    const seconds = Math.round(waitedMs / 1000);
    const detail = `${phase} playbook ${playbook.path} waited ${seconds} s for semaphores: ${names}${holders ?? ''}; it did not begin`;
    return { kind: 'ended', end: { kind: 'broken', detail }, wait: wait('TIMED_OUT') };
  } finally {
    clearTimeout(timer);
  }
}

function waitStep(
  names: string,
  startedAt: Nanoseconds,
  endedAt: Nanoseconds,
  result: NonNullable<Step['result']>,
): Step {
  return { kind: 'SemaphoreWait', subject: names, startedAt, endedAt, result };
}

/** Empty: only builds of other tenants hold them. */
function holdersText(heldBy: readonly SemaphoreHolder[]): string {
  const [first] = heldBy;
  return first === undefined ? '' : `, which ${first.job} of ${first.change} holds`;
}
