/**
 * What is done to one repository of a build, as steps: each when it happens, with the times it took, also when it fails.
 *
 *     await time('BuildCheckout', () => readTree(...), () => ({ facts: { commit } }));
 */
import { type ProjectKey, projectIdOf } from '../model/project.ts';
import type { Step, StepKind } from '../model/step.ts';
import type { StepNote } from '../tracing/step-recorder.ts';
import type { RunStep } from './build-steps.ts';

/** Runs the work and notes it. @param describe what its result says of the step; default: nothing more. */
export type TimeStep = <T>(
  kind: StepKind,
  work: () => Promise<T>,
  describe?: (result: T) => StepNote,
) => Promise<T>;

/** @param source what the steps are about. */
export function timeStepsOf(
  run: RunStep,
  { canonicalName, project }: { readonly canonicalName: string; readonly project: ProjectKey },
): TimeStep {
  const { connection } = projectIdOf(project);
  return (kind, work, describe = () => ({})) =>
    run(kind, canonicalName, work, result => {
      const { facts, ...note } = describe(result);
      return { ...note, facts: { project: canonicalName, connection, ...facts } };
    });
}

/** Of a checkout: what is checked out. */
export function commitFacts(source: {
  readonly commit: string;
  readonly branch: string | null;
}): NonNullable<Step['facts']> {
  return { commit: source.commit, ...(source.branch === null ? {} : { branch: source.branch }) };
}
