/**
 * The work on one repository of a build, recorded as steps with their times, also when it fails.
 *
 *     await time('BuildCheckout', () => readTree(...), () => ({ facts: { commit } }));
 */
import { type ProjectKey, projectIdOf } from '../model/project.ts';
import type { Step, StepKind } from '../model/step.ts';
import type { StepNote } from '../tracing/step-recorder.ts';
import type { RunStep } from './build-steps.ts';

/** Runs the work and records it. @param describe adds facts from its result; default: none. */
export type TimeStep = <T>(
  kind: StepKind,
  work: () => Promise<T>,
  describe?: (result: T) => StepNote,
) => Promise<T>;

/** @param source the repository the steps are about. */
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

/** Facts of a checkout: what is checked out. */
export function commitFacts(source: {
  readonly commit: string;
  readonly branch: string | null;
}): NonNullable<Step['facts']> {
  return { commit: source.commit, ...(source.branch === null ? {} : { branch: source.branch }) };
}
