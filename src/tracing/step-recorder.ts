import type { Clock } from '../lib/clock.ts';
import type { Step, StepKind } from '../model/step.ts';

/** Facts of a step that are known from its result. */
export type StepNote = Pick<Step, 'facts' | 'result'>;

/** Records in a worker when each step of one request began and ended; steps of different repositories may overlap. */
export interface StepRecorder {
  /** Runs `work` as a step and describes it by its result. A step that throws is recorded as failed. */
  run<T>(
    kind: StepKind,
    subject: string,
    work: () => Promise<T>,
    describe: (result: T) => StepNote,
  ): Promise<T>;
  /** Ordered by start. */
  steps(): readonly Step[];
}

/** Empty; a merger makes one for each request. @param clock of the worker; the scheduler clamps its times into those of the request. */
export function createStepRecorder(clock: Clock): StepRecorder {
  const done: { readonly order: number; readonly step: Step }[] = [];
  let begun = 0;
  return {
    async run(kind, subject, work, describe) {
      const order = begun;
      begun += 1;
      const startedAt = clock.now();
      let note: StepNote = { result: 'FAILURE' };
      try {
        const result = await work();
        note = describe(result);
        return result;
      } finally {
        done.push({ order, step: { kind, subject, startedAt, endedAt: clock.now(), ...note } });
      }
    },
    steps: () => done.toSorted((a, b) => a.order - b.order).map(({ step }) => step),
  };
}
