/** The job as the project runs it in a pipeline, or as it is where no pipeline runs it. Pure. */
import { buildLayout, type LayoutInput } from '../../layout/build/build-layout.ts';
import { freezeJobGraph } from '../../layout/freeze/freeze-job-graph.ts';
import type { Layout } from '../../layout/model/layout.ts';
import { configErrorText } from '../../model/config-error.ts';
import type { FrozenJob } from '../../model/job.ts';
import type { Pipeline } from '../../model/pipeline.ts';
import type { BranchName, ProjectKey } from '../../model/project.ts';
import { type Refused, refused } from '../commands/refused.ts';
import { OWN_PIPELINE, OWN_PROJECT, withJob } from './run-layout.ts';

/** Which job, of which project and branch. */
export interface WantedJob {
  readonly job: string;
  readonly project: ProjectKey;
  readonly branch: BranchName;
  /** Undefined: the first pipeline that runs it. */
  readonly pipeline: string | undefined;
}

/** The job and the layout that it was frozen of. */
export interface ChosenJob {
  readonly kind: 'chosen';
  readonly job: FrozenJob;
  readonly pipeline: Pipeline;
  readonly layout: Layout;
}

/** Errors that are shown where the job cannot be frozen. */
const MOST_ERRORS = 10;

/** @returns why it cannot be run, with the errors of the configuration. */
export function chooseJob(input: LayoutInput, wanted: WantedJob): ChosenJob | Refused {
  const layout = buildLayout(input);
  if (wanted.pipeline !== undefined) return inPipeline(layout, wanted, wanted.pipeline);
  for (const name of layout.pipelines.keys()) {
    if (name === OWN_PIPELINE) continue;
    const found = inPipeline(layout, wanted, name);
    if (found.kind === 'chosen') return found;
  }
  return inPipeline(buildLayout(withJob(input, wanted.project, wanted.job)), wanted, OWN_PIPELINE);
}

function inPipeline(layout: Layout, { job, project, branch }: WantedJob, name: string): ChosenJob | Refused {
  const pipeline = layout.pipelines.get(name);
  if (pipeline === undefined) {
    const others = [...layout.pipelines.keys()].filter(each => each !== OWN_PIPELINE);
    return refused(`there is no pipeline ${name}; there are: ${others.join(', ') || 'none'}`);
  }
  const outcome = freezeJobGraph({ layout, pipeline: name, change: { project, branch, files: null } });
  switch (outcome.kind) {
    case 'not-in-pipeline':
      return refused(`the project takes no part in pipeline ${name}`);
    case 'misconfigured':
      return refused(errorsText(layout, outcome.errors));
    case 'frozen': {
      const found = outcome.jobs.find(each => each.name === job);
      if (found !== undefined) return { kind: 'chosen', job: found, pipeline, layout };
      const verdict = outcome.verdicts.find(each => each.kind === 'does-not-run' && each.name === job);
      if (verdict?.kind === 'does-not-run') return refused(`job ${job} does not run: ${verdict.because}`);
      const names = outcome.jobs.map(each => each.name).join(', ') || 'none';
      return refused(`pipeline ${name} does not run ${job}; it runs: ${names}`);
    }
  }
}

/** Those of the freezing, and what the configuration has besides, which may be the cause. */
function errorsText(layout: Layout, errors: readonly Parameters<typeof configErrorText>[0][]): string {
  const all = [...errors, ...layout.errors.filter(({ severity }) => severity === 'error')];
  const texts = [
    ...new Set(all.map(each => (each.project === OWN_PROJECT ? each.text : configErrorText(each)))),
  ];
  const more = texts.length - MOST_ERRORS;
  return [...texts.slice(0, MOST_ERRORS), ...(more > 0 ? [`and ${more} more errors`] : [])].join('\nerror: ');
}
