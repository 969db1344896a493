/** Compares what was loaded here with what Zuul makes of it: pipelines, variants and job graphs, difference by difference. */
import { isDeepStrictEqual } from 'node:util';
import { freezeItemGraph } from '../../src/layout/freeze/freeze-item-graph.ts';
import type { Layout } from '../../src/layout/model/layout.ts';
import { canonicalNameIn } from '../../src/layout/tenant/resolve-project.ts';
import type { FrozenJob, Playbook } from '../../src/model/job.ts';
import type { FreezeOutcome, Tenant } from '../../src/model/layout.ts';
import type { OracleTenant, PlainJob } from './oracle.ts';

/** Each in one line. */
export function differencesOf(layout: Layout, zuul: OracleTenant): readonly string[] {
  const pipelines = Object.fromEntries([...layout.pipelines].map(([name, { manager }]) => [name, manager]));
  const jobs = Object.fromEntries([...layout.jobs].map(([name, variants]) => [name, variants.length]));
  return [
    ...differing('pipeline', pipelines, zuul.pipelines ?? {}),
    ...differing('variants of', jobs, zuul.jobs ?? {}),
    ...graphDifferences(layout, zuul.graphs ?? {}),
  ];
}

/** How many job graphs are compared. */
export function graphsOf({ graphs = {} }: OracleTenant): number {
  return Object.keys(graphs).length;
}

function graphDifferences(layout: Layout, graphs: NonNullable<OracleTenant['graphs']>): readonly string[] {
  return [...layout.projects.keys()].flatMap(project =>
    [...layout.pipelines.keys()].flatMap(pipeline => {
      const change = { project, branch: 'master', files: [] };
      const ours = freezeItemGraph({ layout, pipeline, changes: [{ name: '1', change }] });
      const place = `${project} ${pipeline}`;
      return graphDifference(ours, graphs[place], layout.tenant).map(text => `${place}: ${text}`);
    }),
  );
}

function graphDifference(
  ours: FreezeOutcome,
  zuul: NonNullable<OracleTenant['graphs']>[string] | undefined,
  tenant: Tenant,
): readonly string[] {
  if (zuul === undefined)
    return ours.kind === 'not-in-pipeline' ? [] : [`here ${ours.kind}, in Zuul not in the pipeline`];
  if ('error' in zuul)
    return ours.kind === 'misconfigured' ? [] : [`here ${ours.kind}, in Zuul ${zuul.error}`];
  if (ours.kind === 'misconfigured') return [`here ${ours.errors[0].text}`];
  if (ours.kind !== 'frozen') return [`here ${ours.kind}`];
  const [here, there] = [ours.jobs.map(({ name }) => name), zuul.jobs.map(({ name }) => String(name))];
  if (!isDeepStrictEqual(here, there)) return [`jobs here ${here.join(', ')}; in Zuul ${there.join(', ')}`];
  return ours.jobs.flatMap((job, index) =>
    differing(`job ${job.name}`, plainJob(job, tenant), zuul.jobs[index] ?? {}),
  );
}

function plainJob(job: FrozenJob, tenant: Tenant): PlainJob {
  return {
    name: job.name,
    voting: job.voting,
    attempts: job.attempts,
    timeout: job.timeout ?? null,
    postTimeout: job.postTimeout ?? null,
    preRun: paths(job.preRun),
    run: paths(job.run),
    postRun: paths(job.postRun),
    vars: job.vars,
    tags: job.tags.toSorted(),
    dependencies: job.dependencies.map(({ name }) => name).toSorted(),
    holdFollowingChanges: job.holdFollowingChanges,
    requiredProjects: job.requiredProjects.map(({ project }) => canonicalNameIn(project, tenant)).toSorted(),
  };
}

function paths(playbooks: readonly Playbook[]): readonly string[] {
  return playbooks.map(({ path }) => path);
}

function differing<Value>(
  what: string,
  here: { readonly [key: string]: Value },
  there: { readonly [key: string]: Value },
): readonly string[] {
  const keys = new Set([...Object.keys(here), ...Object.keys(there)]);
  return [...keys]
    .filter(key => !isDeepStrictEqual(here[key], there[key]))
    .map(key => `${what} ${key}: here ${JSON.stringify(here[key])}, in Zuul ${JSON.stringify(there[key])}`);
}
