/** What a driver recorded of its requests to the host, for the trace. */
import type { Step } from '../model/step.ts';

/** Part of a driver's answers. An error that a driver throws may have `steps` as well. */
export interface HostSteps {
  /**
   * Requests (`HostQuery`) and waits (`HostWait`) in order of their begin; steps of other kinds are dropped. They become spans below
   * the one the answer belongs to. Of more than 50 the first and the last 25 are kept.
   */
  readonly steps?: readonly Step[];
}

/** Of one answer of a driver, or of several in a row. */
const MOST_HOST_STEPS = 50;

/** @param steps of drivers; those of several answers one after the other. */
export function hostSteps(
  steps: readonly Step[] | undefined,
  most: number = MOST_HOST_STEPS,
): readonly Step[] {
  const ours = (steps ?? []).filter(({ kind }) => kind === 'HostQuery' || kind === 'HostWait');
  if (ours.length <= most) return ours;
  const first = Math.ceil(most / 2);
  return [...ours.slice(0, first), ...ours.slice(ours.length - (most - first))];
}

/** The steps that an error of a driver carries; none: it carries none. */
export function hostStepsOfError(error: unknown): readonly Step[] {
  if (!(error instanceof Error) || !('steps' in error) || !Array.isArray(error.steps)) return [];
  return hostSteps(error.steps.filter(isStep));
}

function isStep(value: unknown): value is Step {
  if (typeof value !== 'object' || value === null) return false;
  const { kind, subject, startedAt, endedAt } = value as { readonly [key: string]: unknown };
  return [kind, subject, startedAt, endedAt].every(each => typeof each === 'string');
}

/** Most steps kept of one report or landing; the caller bounds them further. */
const MOST_STEPS = 200;

/** Gathers the requests of one report or landing, for its trace. */
export function gatherSteps(): { readonly steps: readonly Step[]; readonly add: (step: Step) => void } {
  const steps: Step[] = [];
  return {
    steps,
    add(step) {
      if (steps.length < MOST_STEPS) steps.push(step);
    },
  };
}
