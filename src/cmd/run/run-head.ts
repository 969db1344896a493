/** What a run says before it begins: what is run, and where each part of it is taken from. Pure. */
import type { PreparedRun } from './prepare-run.ts';
import { OWN_PIPELINE } from './run-layout.ts';
import type { RunHead } from './run-text.ts';

/** @param given files that were named. */
export function runHeadOf(
  { chosen, request, canonicalName, root, branch, state, others }: PreparedRun,
  given: { readonly config?: string; readonly secrets?: string },
): RunHead {
  const { job, pipeline, layout } = chosen;
  const isListed = pipeline.name !== OWN_PIPELINE;
  const places = job.definedAt.filter(place => !place.startsWith(`${OWN_PIPELINE}@`));
  const waits = job.dependencies.map(({ name }) => name);
  const { preRun, run, postRun } = request.playbooks;
  const hasSecrets = [...preRun, ...run, ...postRun].some(({ secrets = [] }) => secrets.length > 0);
  return {
    job: [
      isListed
        ? `${job.name}, as pipeline ${pipeline.name} runs it`
        : `${job.name}, which no pipeline of the project runs: as it is defined`,
      ...(places.length === 0 ? [] : [`defined at ${places.join(', ')}`]),
    ],
    project: `${canonicalName} in ${root}, for branch ${branch}`,
    tested: state.text,
    config: [
      given.config === undefined
        ? 'of this checkout alone; --config reads the rest of a tenant'
        : `of tenant ${layout.tenant.name} (${given.config}), with this checkout in the place of its branch`,
      ...(others.length === 0 ? [] : [`and from their checkouts: ${others.join(', ')}`]),
    ],
    notes: [
      ...(waits.length === 0 ? [] : [`jobs it depends on do not run: ${waits.join(', ')}`]),
      ...(hasSecrets && given.secrets !== undefined ? [`its secrets are those of ${given.secrets}`] : []),
    ],
  };
}
