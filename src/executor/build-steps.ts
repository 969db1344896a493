/**
 * What an executor does for a build, as steps without gaps: each begins where the one before it ended, so that every millisecond
 * of the build belongs to a step.
 *
 *     JobSetup directories │ repository a: BuildRepoCheck │ ... │ BuildCheckout │ JobSetup unit │ JobSetup sandbox │ Playbook │ ...
 *                          │ repository b: BuildRepoCheck │ BuildCheckout │
 */
import type { Clock, Nanoseconds } from '../lib/clock.ts';
import { laterOf } from '../lib/clock.ts';
import type { Step } from '../model/step.ts';
import type { StepNote, StepRecorder } from '../tracing/step-recorder.ts';

/** Runs `work` as a step and describes it by its result. A step that throws is recorded as failed. */
export type RunStep = StepRecorder['run'];

/** The steps of one build, from its start to its end: made by `run-build.ts`, which hands it to the runner for the workspace. */
export interface BuildSteps {
  /** Begins where everything recorded so far ended; nothing else runs meanwhile. */
  readonly run: RunStep;
  /** Steps one after another, parallel to other lanes: the first begins where the build was, the last ends with `work`. */
  lane<T>(work: (run: RunStep) => Promise<T>): Promise<T>;
  /** Records a step that was timed elsewhere, its times unchanged. */
  add(step: Step): void;
  /** Where the last step ended; before the first step, where the build began. */
  end(): Nanoseconds;
  /** In order of their start times. */
  steps(): readonly Step[];
}

interface Lane {
  since: Nanoseconds;
  last?: { step: Step };
}

/** @param startedAt when the build began, and with it its first step. */
export function createBuildSteps(clock: Pick<Clock, 'now'>, startedAt: Nanoseconds): BuildSteps {
  const noted: { step: Step }[] = [];
  /** Lanes running now. */
  let lanes = 0;

  function end(): Nanoseconds {
    return noted.reduce((latest, { step }) => laterOf(latest, step.endedAt), startedAt);
  }

  function runIn(lane: Lane): RunStep {
    return async (kind, subject, work, describe) => {
      let note: StepNote = { result: 'FAILURE' };
      const startedAt = lane.since;
      try {
        const result = await work();
        note = describe(result);
        return result;
      } finally {
        lane.since = clock.now();
        lane.last = { step: { kind, subject, startedAt, endedAt: lane.since, ...note } };
        noted.push(lane.last);
      }
    };
  }

  return {
    run: (...step) => runIn({ since: end() })(...step),
    async lane(work) {
      // The first of several lanes begins where the build was; the others when they are started.
      const lane: Lane = { since: lanes === 0 ? end() : clock.now() };
      lanes += 1;
      try {
        return await work(runIn(lane));
      } finally {
        lanes -= 1;
        if (lane.last !== undefined) lane.last.step = { ...lane.last.step, endedAt: clock.now() };
      }
    },
    add(step) {
      noted.push({ step });
    },
    end,
    steps: () =>
      noted.map(({ step }) => step).toSorted((a, b) => Number(BigInt(a.startedAt) - BigInt(b.startedAt))),
  };
}
