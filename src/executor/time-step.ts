/**
 * What is done to one repository of a build, as steps: each when it happens, with the times it took, also when it fails.
 *
 *     await time('BuildCheckout', () => readTree(...), () => ({ facts: { commit } }));
 */
import type { Step, StepKind } from '../model/step.ts';
import type { StepNote, StepRecorder } from '../tracing/step-recorder.ts';

/** Runs the work and notes it. @param describe what its result says of the step; default: nothing more. */
export type TimeStep = <T>(
  kind: StepKind,
  work: () => Promise<T>,
  describe?: (result: T) => StepNote,
) => Promise<T>;

/** @param project canonical name: what the steps are about. */
export function timeStepsOf(recorder: StepRecorder, project: string): TimeStep {
  return (kind, work, describe = () => ({})) =>
    recorder.run(kind, project, work, result => {
      const { facts, ...note } = describe(result);
      return { ...note, facts: { project, ...facts } };
    });
}

/** Of a checkout: what is checked out. */
export function commitFacts(source: {
  readonly commit: string;
  readonly branch: string | null;
}): NonNullable<Step['facts']> {
  return { commit: source.commit, ...(source.branch === null ? {} : { branch: source.branch }) };
}
